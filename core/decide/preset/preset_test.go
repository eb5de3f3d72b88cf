package preset

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/reference"
)

// TestPresetsAreWhole reads the document: thirty entries at least, each of which says what to do and where the
// vendor says so, and no image twice.
func TestPresetsAreWhole(t *testing.T) {
	all, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Errorf("%d presets, want 30", len(all))
	}
	known := map[string]string{}
	word := regexp.MustCompile(`^[a-z0-9]+$`)
	for _, p := range all {
		if !word.MatchString(p.Name) || known[p.Name] != "" && !slices.Contains(p.Images, p.Name) {
			t.Errorf("%q is no name, or there twice", p.Name)
		}
		if p.Major != Never || p.Line < 1 || p.Line > 2 || p.Steps != "" && p.Steps != One {
			t.Errorf("%s: major %q, line %d, steps %q", p.Name, p.Major, p.Line, p.Steps)
		}
		if !strings.HasSuffix(p.Needs, ".") || len(p.Needs) < 40 || strings.Contains(p.Needs, "\n") {
			t.Errorf("%s: %q is not what to do, in sentences of one line", p.Name, p.Needs)
		}
		for _, address := range []string{p.Page, p.Notes} {
			u, err := url.Parse(address)
			if err != nil || address != "" && (u.Scheme != "https" || u.Host == "") || p.Page == "" {
				t.Errorf("%s: %q is no page of a vendor", p.Name, address)
			}
		}
		if len(p.Images) == 0 {
			t.Errorf("%s has no images", p.Name)
		}
		for _, image := range p.Images {
			ref, err := reference.Parse(image)
			if err != nil || reference.Short(ref.Domain, ref.Path) != image {
				t.Errorf("%s: the image %q is written %q (%v)", p.Name, image, reference.Short(ref.Domain, ref.Path),
					err)
			}
			if known[image] != "" {
				t.Errorf("%s is of %s and of %s", image, known[image], p.Name)
			}
			known[image] = p.Name
		}
		if !slices.IsSortedFunc(p.Stops, compareStops(t)) {
			t.Errorf("%s: the stops %v are not in order", p.Name, p.Stops)
		}
	}
}

func compareStops(t *testing.T) func(a, b string) int {
	return func(a, b string) int { return slices.Compare(numbersOf(t, a), numbersOf(t, b)) }
}

func numbersOf(t *testing.T, stop string) []int {
	var all []int
	for part := range strings.SplitSeq(stop, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			t.Errorf("%q is no stop: %v", stop, err)
		}
		all = append(all, n)
	}
	return all
}

func TestPresetsOfImages(t *testing.T) {
	var presets Presets
	for _, c := range []struct{ host, repository, want string }{
		{"docker.io", "library/postgres", "postgres"},
		{"", "postgres", "postgres"},
		{"docker.io", "postgis/postgis", "postgres"},
		{"ghcr.io", "goauthentik/server", "authentik"},
		{"public.ecr.aws", "docker/library/mariadb", "mariadb"},
		{"registry.example.org", "library/mongo", "mongo"},
		{"docker.io", "library/nginx", ""},
		{"ghcr.io", "somebody/postgres", ""},
		{"registry.example.com", "postgres", ""},
		{"docker.io", "somebody/nextcloud", ""},
	} {
		got := ""
		if p := presets.Of(c.host, c.repository); p != nil {
			got = p.Name
		}
		if got != c.want {
			t.Errorf("%s/%s: preset %q, want %q", c.host, c.repository, got, c.want)
		}
	}
}
