package tag

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

func TestCandidates(t *testing.T) {
	for title, c := range map[string]struct {
		rules   Rules
		current string
		tags    string
		want    string
	}{
		"every level": {Rules{}, "8.1.0", "8.1.0 8.1.1 8.1.2 8.2.0 8.2.1 9.0.0 9.1.0 8.0.9",
			"9.1.0 major, 9.0.0 major, 8.2.1 minor, 8.2.0 minor, 8.1.2 patch, 8.1.1 patch"},
		"nothing newer":        {Rules{}, "8.1.0", "8.1.0 8.0.9 latest", ""},
		"no version":           {Rules{}, "latest", "8.1.0 8.0.9 latest", ""},
		"prereleases are none": {Rules{}, "8.1.0", "8.1.0 8.2.0 9.0.0-rc1", "8.2.0 minor"},
		"prereleases where allowed": {Rules{Prerelease: true}, "8.1.0", "8.1.0 8.2.0 9.0.0-rc1",
			"9.0.0-rc1 major, 8.2.0 minor"},
		"excluded": {Rules{Exclude: `^9\.`}, "8.1.0", "9.0.0 8.2.0 8.1.0", "8.2.0 minor"},
		"only on the base of current": {Rules{}, "8.1.0-alpine3.19",
			"8.1.1-alpine3.19 9.0.0-alpine3.21 8.1.2-alpine3.20", "8.1.1-alpine3.19 patch"},
		"on other bases if on none": {Rules{}, "8.1.0-alpine3.19",
			"8.1.0-alpine3.19 8.2.0-alpine3.20 8.2.0-alpine3.21 9.0.0-alpine3.21",
			"9.0.0-alpine3.21 major, 8.2.0-alpine3.20 minor"},
		"builds of one version": {Rules{}, "1.2.3-ls45", "1.2.3-ls46 1.2.3-ls47 1.2.4-ls48",
			"1.2.4-ls48 patch, 1.2.3-ls47 prerelease, 1.2.3-ls46 prerelease"},
		"flavours of one version": {Rules{}, "10.8.13-1", "10.8.14 10.8.14-2", "10.8.14-2 patch"},
		"equal by a transform": {Rules{Transform: `^(\d+\.\d+)\.\d+$ => $1`}, "4.39.1", "4.40.9 4.40.10 4.41.1",
			"4.41.1 minor, 4.40.10 minor"},
		"a base that was dropped": {Rules{}, "16-alpine3.19",
			"16-alpine3.19 16-alpine3.21 16.5-alpine3.19 16.6-alpine3.21", "16-alpine3.21 prerelease"},
	} {
		sel, err := mustCompile(t, c.rules).Select(t.Context(), c.current, strings.Fields(c.tags))
		if err != nil {
			t.Errorf("%s: %v", title, err)
			continue
		}
		var got []string
		for _, newer := range sel.Tags {
			got = append(got, newer.Tag+" "+newer.Diff)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s:\n got  %s\n want %s", title, strings.Join(got, ", "), c.want)
		}
	}
}

// Of many tags each level keeps its best, and what is known, in whichever order they come.
func TestCandidatesAreBounded(t *testing.T) {
	var tags []string
	for i := range 100 {
		tags = append(tags, fmt.Sprintf("1.2.%d", i+4), fmt.Sprintf("1.%d.0", i+3), fmt.Sprintf("%d.0.0", i+2))
	}
	s := mustCompile(t, Rules{})
	known := []string{"1.2.5", "1.4.0", "3.0.0", "101.0.0", "0.1.0", "1.2.103"}
	first, err := s.Select(t.Context(), "1.2.3", tags, known...)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(first.Tags); n != 3*MaxPerLevel+3 {
		t.Errorf("%d tags", n)
	}
	for _, want := range []Newer{{"101.0.0", "major"}, {"72.0.0", "major"}, {"3.0.0", "major"},
		{"1.102.0", "minor"}, {"1.73.0", "minor"}, {"1.4.0", "minor"}, {"1.2.103", "patch"}, {"1.2.74", "patch"},
		{"1.2.5", "patch"}} {
		if !slices.Contains(first.Tags, want) {
			t.Errorf("%v is missing", want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		r.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
		sel, err := s.Select(t.Context(), "1.2.3", tags, known...)
		if err != nil || !slices.Equal(sel.Tags, first.Tags) {
			t.Fatalf("the order of the tags matters: %v, %v", sel.Tags, err)
		}
	}
}

// Whatever the tags, the first newer tag is the selected tag, none comes twice, and
// each is what Select would choose if the better ones did not exist.
func TestCandidatesFollowSelection(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		current := newSample(r).text
		tags := []string{current}
		for range r.IntN(40) {
			tags = append(tags, newSample(r).text)
		}
		s := mustCompile(t, Rules{Prerelease: r.IntN(2) == 0})
		sel, err := s.Select(t.Context(), current, tags)
		if err != nil {
			t.Fatal(err)
		}
		if sel.Newer != (len(sel.Tags) > 0) || sel.Newer && sel.Tags[0].Tag != sel.Tag {
			t.Fatalf("%s among %q: %s, newer %v", current, tags, sel.Tag, sel.Tags)
		}
		seen := map[string]bool{}
		for _, c := range sel.Tags {
			if seen[c.Tag] || c.Tag == current || c.Diff != s.Diff(current, c.Tag) {
				t.Fatalf("%s among %q: newer %v", current, tags, sel.Tags)
			}
			seen[c.Tag] = true
			if alone, err := s.Select(t.Context(), current, []string{current, c.Tag}); sel.LeftBase == "" &&
				(err != nil || !alone.Newer) {
				t.Fatalf("%s is newer for %s and alone is not: %v", c.Tag, current, err)
			}
		}
	}
}

// What turns out to be no image is left out of the newer tags, and of the verdicts of Explain.
func TestSelectionWithoutArtifacts(t *testing.T) {
	s := mustCompile(t, Rules{})
	tags := []string{"1.0.0", "1.1.0", "1.2.0", "2.0.0"}
	for want, artifacts := range map[string]map[string]string{
		"2.0.0": nil, "1.2.0": {"2.0.0": "a chart"}, "1.1.0": {"2.0.0": "a chart", "1.2.0": "a chart"},
		"1.0.0": {"2.0.0": "a chart", "1.2.0": "a chart", "1.1.0": "a chart"},
	} {
		before, err := s.Explain(t.Context(), "1.0.0", tags)
		if err != nil {
			t.Fatal(err)
		}
		dropped := map[string]Dropped{}
		for tag, why := range artifacts {
			dropped[tag] = Dropped{ReasonArtifact, phrase.Verbatim(why)}
		}
		e := before.Without("1.0.0", dropped)
		sel := before.Selection.Without("1.0.0", dropped)
		if e.Tag != want || sel.Tag != want || sel.Newer != (want != "1.0.0") {
			t.Errorf("without %v: %+v, %+v", artifacts, sel, e.Selection)
		}
		if sel.Kept != 3-len(artifacts) || len(sel.Tags) != sel.Kept {
			t.Errorf("without %v: %+v, %+v", artifacts, sel, e.Selection)
		}
		for _, v := range e.Verdicts {
			why := artifacts[v.Tag]
			if (why != "") != (v.Reason == ReasonArtifact) || why != "" && (v.Kept || v.Detail.String() != why) {
				t.Errorf("without %v: %+v", artifacts, v)
			}
			if (v.Reason == ReasonNewest) != (sel.Newer && v.Tag == want) {
				t.Errorf("without %v: %+v", artifacts, v)
			}
		}
		if before.Tag != "2.0.0" || len(before.Tags) != 3 {
			t.Errorf("the selection itself is now %+v", before.Selection)
		}
	}
}
