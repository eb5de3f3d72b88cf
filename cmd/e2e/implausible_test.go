package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestImplausibleVersionsAreSkipped: abandoned and mistyped versions of public reports are not
// offered, and API, page and command line say so. What is newer all the same is offered.
func TestImplausibleVersionsAreSkipped(t *testing.T) {
	t.Parallel()
	var made []time.Time // by revision, from 1
	dated := registrysim.Options{Created: func(revision int) time.Time { return made[revision-1] }}
	f := newFleet(t, 0, registrysim.Options{}, dated)
	sim := f.registries[1]
	cases := map[string]struct {
		images             string // "tag made", of which the first runs
		want, said, latest string
	}{
		"line": {"1.2.2 2023-03, 1.3.2 2023-04, 1.8.1259 2022-02",
			"1.3.2", "1.8.1259 was built 13 months", ""},
		"long": {"0.6.21 2023-10, 0.6.23 2024-09, 2021.12.16 2021-12, 5.33.2 2021-12",
			"0.6.23", "5.33.2 was built 22 months", ""},
		"minor": {"1.7.5 2024-06, 1.7.7 2024-09, 1.16 2023-05, 1.16.13 2023-05",
			"1.7.7", "1.16.13 was built 13 months", ""},
		"stays": {"v1.5.2 2023-12, v1.10 2022-01, v1.10.6 2022-01",
			"", "v1.10.6 was built 23 months", ""},
		"mended": {"1.9.9 2024-10, 2.0.0 2024-08",
			"2.0.0", "", ""},
		"nightly": {"1.4.2 2026-06, 1.5.0 2025-10",
			"1.5.0", "", "1.5.0"},
		"quiet": {"1.2.0 2015-01, 1.3.0 2015-06",
			"1.3.0", "", ""},
	}
	for name, c := range cases {
		for image := range strings.SplitSeq(c.images, ", ") {
			tag, text, _ := strings.Cut(image, " ")
			at, err := time.Parse("2006-01", text)
			must(t, err)
			made = append(made, at)
			sim.Push("team/"+name, tag)
		}
		if c.latest != "" {
			sim.Tag("team/"+name, c.latest, "latest")
		}
		tag, _, _ := strings.Cut(c.images, " ")
		f.run(t, name, 1, "team/"+name, tag, "", nil)
	}
	in := install(t, f.env()...)
	d := in.start()
	d.loaded()
	for range 2 {
		for _, c := range get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch") {
			want := cases[c.Name]
			offered, said := "", ""
			if c.UpdateAvailable {
				offered = c.Result.Tag
			}
			for _, s := range c.Skipped {
				said += s.Text
			}
			isSaid := strings.HasPrefix(said, want.said) && (want.said != "" || said == "")
			if c.Check.State != sdk.CheckOK || offered != want.want || !isSaid {
				t.Errorf("want %q, and %q: %s", want.want, want.said, show(c))
			}
		}
	}
	counts := sim.Counts()
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	if again := sim.Counts(); again.Manifests != counts.Manifests || again.Heads != counts.Heads {
		t.Errorf("a check that finds nothing new: %+v after %+v", again, counts)
	}
	const sentence = "Skipped: v1.10.6 was built 23 months before what runs."
	stays := d.container("stays")
	why := get[check.Explanation](d, http.MethodGet, "/api/containers/"+stays.ID+"/explain")
	if !strings.Contains(strings.Join(phrase.Strings(why.Summary), " "), sentence) {
		t.Errorf("explained by %q", why.Summary)
	}
	status, page := d.request(http.MethodGet, "/containers/local/stays", "")
	if status != http.StatusOK || !strings.Contains(string(page), sentence) {
		t.Errorf("page %d does not say %q", status, sentence)
	}
	d.stop()
	out, _, code := in.run("explain", "stays")
	out = strings.Join(strings.Fields(out), " ")
	const verdict = "- v1.10.6 it was built 23 months before what runs"
	for _, want := range []string{sentence, verdict, "dogwatch.tag.implausible=true"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("explain ended with %d and does not say %q: %s", code, want, out)
		}
	}
}
