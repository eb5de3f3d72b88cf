package tag

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// kin are the tags of one family in a repository: they differ in their numbers only.
type kin struct {
	prefix string
	parts  int // of the version
	// suffixes differ in the numbers of one base, or in how often a version was built.
	suffixes []string
}

// No suffix begins with a number of one digit: with those beside it, the 18 of 3.1.14-18 would count builds.
var (
	kinPrefixes = []string{"", "v", "release-", "amd64-"}
	kinSuffixes = [][]string{
		{""}, {"-slim"}, {"-minimal"}, {"-bookworm-slim"}, {"-alpine"}, {"-amd64"}, {"-arm64v8"},
		{"-jdk17"}, {"-jdk21"}, {"-pg15"}, {"-pg16"}, {"_slim"}, {"-ls5", "-ls12"},
		{"-18", "-20", "-22"}, {"-18-minimal", "-20-minimal", "-22-minimal"},
		{"-alpine3.19", "-alpine3.20", "-alpine3.9"}, {"-alpine3.19-perl", "-alpine3.21-perl"},
		{"-ubuntu22.04", "-ubuntu24.04"}, {"-debian-11-r5", "-debian-12-r0"}, {"-r1-ubi8", "-r2-ubi8", "-r1-ubi9"},
	}
)

func newKin(r *rand.Rand) kin {
	return kin{prefix: pick(r, kinPrefixes), parts: 1 + r.IntN(4), suffixes: pick(r, kinSuffixes)}
}

// unlike returns a family that is another one than k.
func (k kin) unlike(r *rand.Rand) kin {
	for {
		other := newKin(r)
		if r.IntN(3) > 0 { // which differs in its suffix only
			other.prefix, other.parts = k.prefix, k.parts
		}
		switch {
		case other.prefix != k.prefix || !slices.Equal(other.suffixes, k.suffixes):
			return other
		case other.parts != k.parts && len(k.suffixes) == 1: // else they tell whether a base was dropped
			return other
		}
	}
}

// tags returns the tags of some versions of the family, each with all suffixes.
func (k kin) tags(r *rand.Rand, versions int) (all []string) {
	for range versions {
		version := fmt.Sprint(1 + r.IntN(12))
		for range k.parts - 1 {
			version += fmt.Sprint(".", r.IntN(12))
		}
		for _, suffix := range k.suffixes {
			all = append(all, k.prefix+version+suffix)
		}
	}
	return all
}

// TestSelectIgnoresOtherFamilies tries tags with another suffix, another prefix, or more or fewer numbers: whatever a
// repository has of them, what is selected, and everything that may be offered, is the same as without them.
func TestSelectIgnoresOtherFamilies(t *testing.T) {
	selectors := []*Selector{mustCompile(t, Rules{}), mustCompile(t, Rules{Prerelease: true}),
		mustCompile(t, Rules{Exclude: `rc`})}
	r := rand.New(rand.NewPCG(17, 17))
	moves := 0
	for range *rounds {
		s, own := pick(r, selectors), newKin(r)
		tags := own.tags(r, 1+r.IntN(6))
		current := pick(r, tags)
		var others []string
		for range 1 + r.IntN(3) {
			others = append(others, own.unlike(r).tags(r, 1+r.IntN(12))...)
		}
		both := slices.Concat(others, tags)
		r.Shuffle(len(both), func(i, j int) { both[i], both[j] = both[j], both[i] })

		alone, err1 := s.Select(t.Context(), current, tags)
		among, err2 := s.Select(t.Context(), current, both, pick(r, others))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if alone.Warnings, among.Warnings = nil, nil; !reflect.DeepEqual(alone, among) {
			t.Fatalf("%q among %q\nalone %+v\nwith  %q\nthen  %+v", current, tags, alone, others, among)
		}
		if alone.Newer {
			moves++
		}
	}
	if moves < *rounds/3 {
		t.Errorf("%d moves: too few to tell", moves)
	}
}
