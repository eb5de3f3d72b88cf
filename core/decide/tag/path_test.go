package tag

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// TestSelectorAlongAPath: of the versions that must not be left out the next one comes first.
func TestSelectorAlongAPath(t *testing.T) {
	one := Path{Line: 1, Source: phrase.New("built-in rule for %s", "nextcloud")}
	pairs := Path{Line: 2, Source: phrase.New("built-in rule for %s", "authentik")}
	stops := Path{Stops: []string{"15.11", "16.3", "16.7", "16.11", "17.3"}, Source: phrase.New("built-in rule for %s", "gitlab")}
	both := Path{Line: 1, Stops: []string{"6.8", "7.17"}, Source: phrase.New("built-in rule for %s", "elasticsearch")}
	for _, c := range []struct {
		about   string
		path    Path
		current string
		tags    string
		want    string
		beyond  string
		first   string
	}{
		{"one major at a time", one, "28.0.1", "28.0.4 29.0.1 29.0.7 30.0.2 31.0.0", "29.0.7 29.0.1 28.0.4",
			"31.0.0", "29"},
		{"the next one is not published", one, "28.0.1", "30.0.2 31.0.0", "30.0.2", "31.0.0", "30"},
		{"only the same one", one, "28.0.1", "28.0.4 27.1.0", "28.0.4", "", ""},
		{"of its own family", one, "28.0.1-fpm", "29.0.1 30.0.2-fpm 31.0.0-fpm", "30.0.2-fpm", "31.0.0-fpm", "30"},
		{"a tag of one number", one, "28", "29 30 31", "29", "31", "29"},
		{"nothing newer", one, "31.0.0", "29.0.1 30.0.2", "", "", ""},
		{"lines of two numbers", pairs, "2025.2.1", "2025.2.4 2025.4.1 2025.6.0 2025.10.0", "2025.4.1 2025.2.4",
			"2025.10.0", "2025.4"},
		{"across a year", pairs, "2024.12.3", "2025.2.4 2025.4.1", "2025.2.4", "2025.4.1", "2025.2"},
		{"a stop", stops, "16.0.1-ce.0", "16.2.1-ce.0 16.3.8-ce.0 16.4.1-ce.0 17.1.0-ce.0", "16.3.8-ce.0 16.2.1-ce.0",
			"17.1.0-ce.0", "16.3"},
		{"at a stop", stops, "16.3.1-ce.0", "16.3.8-ce.0 16.7.9-ce.0 16.8.1-ce.0", "16.7.9-ce.0 16.3.8-ce.0",
			"16.8.1-ce.0", "16.7"},
		{"into the next major one", stops, "16.11.1-ce.0", "17.1.0-ce.0 17.3.2-ce.0 17.4.0-ce.0",
			"17.3.2-ce.0 17.1.0-ce.0", "17.4.0-ce.0", "17.3"},
		{"past the last stop", stops, "17.3.1-ce.0", "17.4.0-ce.0 18.1.0-ce.0", "18.1.0-ce.0 17.4.0-ce.0", "", ""},
		{"both: to the stop", both, "7.10.0", "7.12.0 7.17.3 8.1.0", "7.17.3 7.12.0", "8.1.0", "7.17"},
		{"both: from the stop", both, "7.17.3", "8.1.0 8.4.0 9.0.1", "8.4.0 8.1.0", "9.0.1", "8"},
		{"both: the stop is nearer", both, "6.2.0", "6.8.1 7.1.0", "6.8.1", "7.1.0", "6.8"},
		{"no version", one, "latest", "29.0.1 30.0.2", "", "", ""},
		{"no path", Path{}, "28.0.1", "29.0.1 31.0.0", "31.0.0 29.0.1", "", ""},
	} {
		s, err := Compile(Rules{})
		if err != nil {
			t.Fatal(err)
		}
		sel, err := s.Along(c.path).Select(t.Context(), c.current, strings.Fields(c.tags))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, newer := range sel.Tags {
			got = append(got, newer.Tag)
		}
		first, _, _ := strings.Cut(phrase.English(sel.First),
			" must not be skipped, so update to it first ("+phrase.English(c.path.Source)+")")
		if strings.Join(got, " ") != c.want || sel.Beyond != c.beyond || first != c.first {
			t.Errorf("%s: got %v, beyond %q, %q", c.about, got, sel.Beyond, sel.First)
		}
	}
}

// TestNoLineIsLeftOut: whoever always takes the newest that is offered comes to the newest version, and through
// every release line and stop on the way, however many versions there are.
func TestNoLineIsLeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	s, _ := Compile(Rules{})
	for range 300 {
		var tags []string
		for major := range 8 {
			if r.IntN(5) == 0 && major > 0 {
				continue
			}
			for minor := range 1 + r.IntN(6) {
				for patch := range 1 + r.IntN(8) {
					tags = append(tags, fmt.Sprintf("%d.%d.%d", major+20, minor, patch))
				}
			}
		}
		r.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
		path := Path{Line: 1 + r.IntN(2), Source: phrase.New("x")}
		lineOf := func(tag string) string { return strings.Join(strings.Split(tag, ".")[:path.Line], ".") }
		along := s.Along(path)
		current := slices.MinFunc(tags, natural)
		passed := map[string]bool{lineOf(current): true}
		for {
			sel, err := along.Select(t.Context(), current, tags)
			if err != nil {
				t.Fatal(err)
			}
			if !sel.Newer {
				break
			}
			current = sel.Tag
			passed[lineOf(current)] = true
		}
		if newest := slices.MaxFunc(tags, natural); lineOf(current) != lineOf(newest) {
			t.Fatalf("it ends at %s of %s", current, newest)
		}
		for _, tag := range tags {
			if !passed[lineOf(tag)] {
				t.Fatalf("the line of %s is left out (lines of %d numbers)", tag, path.Line)
			}
		}
	}
}

// natural compares versions of three numbers.
func natural(a, b string) int {
	var va, vb version
	va.read(a, reading{})
	vb.read(b, reading{})
	return compareMain(&va, &vb)
}

func TestExplainAlongAPath(t *testing.T) {
	s, _ := Compile(Rules{})
	e, err := s.Along(Path{Line: 1, Source: phrase.New("built-in rule for %s", "nextcloud")}).Explain(t.Context(), "28.0.1",
		[]string{"29.0.1", "30.0.2", "31.0.0"})
	if err != nil || e.LeftOut != 2 {
		t.Fatalf("%+v, %v", e, err)
	}
	if !slices.ContainsFunc(e.Verdicts, func(v Verdict) bool {
		return v.Tag == "30.0.2" && v.Reason == ReasonStep &&
			v.Detail.String() == "29 must not be skipped, so update to it first (built-in rule for nextcloud)"
	}) {
		t.Errorf("%+v", e.Verdicts)
	}
}
