package tag

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// soak is how many rounds try everything, each tag of the corpus among it.
const soak = 10_000

var rounds = flag.Int("rounds", soak/5, fmt.Sprint("how many made-up decisions to try; ", soak, " is the soak form"))

// sample is a made-up tag with what its maker meant, which is known without reading it.
type sample struct {
	text   string
	main   []int
	family string // the variant with its revision, as "revision|variant"
}

// piece is a text and the family that it stands for.
type piece struct{ text, family string }

var (
	prefixes = strings.Fields(`- - - - v v v V version- release- amd64- arm64v8- nightly- alpine3.19-v stable- latest- pr- jammy- RELEASE.`)
	mains    = strings.Fields(`1 2 9 10 17 100 1500 2022 2024 1.0 1.2 1.9 1.10 2.0 10.11 22.04 24.04 2024.1 2024.01 2024.12 3.19 1.0.0 1.0.1 1.2.3 1.9.0 1.10.0
		2.0.0 2.0.1 10.11.6 2023.12.9 2024.1.5 2024.01.05 2025.1.0 1500.1.0 5.14.0.9383 5.14.0.10000 6.3.0.10514 20240115 20240115.1 20240115.12 20240202 20231219 2024-01-15 2024-02-20`)
	stages = []piece{{"", ""}, {"", ""}, {"", ""}, {"", ""}, {"", ""}, {"-rc1", ""}, {"rc2", ""}, {"-rc.10", ""},
		{"-beta", ""}, {"b3", ""}, {"-alpha1", ""}, {"-SNAPSHOT", ""},
		{"-M2", ""}, {".post1", ""}, {"-hotfix2", ""}, {"-dev", "-dev"}, {"-nightly", "-nightly"}, {"-dev.7", ""}}
	suffixes = []piece{{"", "|"}, {"", "|"}, {"", "|"}, {"", "|"}, {"-alpine", "|alpine"}, {"-alpine3.19", "|alpine#"},
		{"-alpine3.9", "|alpine#"}, {"-bookworm-slim", "|bookworm-slim"},
		{"-ls5", "|ls"}, {"-ls12", "|ls"}, {"-ls100", "|ls"}, {"-r2-ls5", "r|ls"}, {"-1", "n|"}, {"-12", "n|"},
		{"-2-alpine", "n|alpine"}, {"-r2", "r|"}, {"-p0", "p|"},
		{"-pg15", "|pg15"}, {"-pg16", "|pg16"}, {"-jdk17", "|jdk17"}, {"-cuda12.1", "|cuda12.1"}, {"-amd64", "|amd64"},
		{"-arm64v8", "|arm64v8"},
		{"-0a1b2c3", "|*"}, {"-3456789", "|*"}, {"-c0ffee12-ls7", "|*ls"}, {"_v2.0.10-ls3", "|_v"}, {"-ce.0", "|ce"},
		{"-debian-11-r5", "|debian"}, {"-debian-12-r0", "|debian"},
		{"-debian-12-r9", "|debian"}, {"-1-ubi8", "n|ubi"}, {"-2-ubi9", "n|ubi"}, {"-ubuntu22.04", "|ubuntu#"},
		{"-ubuntu24.04", "|ubuntu#"}, {"-18", "n|"}, {"-20", "n|"},
		{"-22", "n|"}, {"-3_slim", "n|_slim"}, {"-4_slim", "n|_slim"}, {"_slim", "|_slim"}}
	others = strings.Fields(`latest stable edge alpine sha-abc1234 sha256-99.0.0.sig 1.0.0.sig 2.0.0.att abc1234 7b368146 4131252 jammy lts-alpine3.20 bookworm-slim x . -`)
)

// newSample makes a tag as real ones are made.
func newSample(r *rand.Rand) sample {
	if r.IntN(10) == 0 {
		return sample{text: pick(r, others)}
	}
	main, stage, suffix := pick(r, mains), pick(r, stages), pick(r, suffixes)
	if stage.text != "" && !endsInDigit(stage.text) && strings.IndexFunc(suffix.text, isDigitRune) == 1 {
		suffix = suffixes[0] // the number would be the stage's
	}
	s := sample{
		text:   strings.TrimPrefix(pick(r, prefixes), "-") + main + stage.text + suffix.text,
		family: suffix.family + stage.family,
	}
	for _, number := range strings.FieldsFunc(main, func(r rune) bool { return !isDigitRune(r) }) {
		n, _ := strconv.Atoi(number)
		s.main = append(s.main, n)
	}
	return s
}

func isDigitRune(r rune) bool { return r >= '0' && r <= '9' }

func endsInDigit(s string) bool { return isDigit(s[len(s)-1]) }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// older reports whether the numbers of s are below those of t.
func (s sample) older(t sample) bool {
	for i := range max(len(s.main), len(t.main)) {
		a, b := 0, 0
		if i < len(s.main) {
			a = s.main[i]
		}
		if i < len(t.main) {
			b = t.main[i]
		}
		if a != b {
			return a < b
		}
	}
	return false
}

// follows reports whether s may follow t: the same variant, and of revisions the same
// kind or none.
func (s sample) follows(t sample) bool {
	revision, variant, _ := strings.Cut(s.family, "|")
	before, variantBefore, _ := strings.Cut(t.family, "|")
	return variant == variantBefore && (revision == before || revision == "")
}

// propertyRules are the rules that the properties hold for.
var propertyRules = []Rules{{}, {}, {}, {Prerelease: true}, {Include: `\d`}, {Include: `^v?\d+\.\d+`}, {
	Include: `^2\.0`,
}, {Exclude: `rc`}, {Exclude: `^2\.`, Prerelease: true},
	{Transform: `^(\d+\.\d+)\.\d+.*$ => $1`}, {Transform: `^[a-z]+-(.*)$ => $1`, Include: `.`},
	{Include: `^(?!.*rc)\d`, Transform: `^v(.*)$ => $1`}}

// property is a case of a property: a container, its rules and the tags of its repository.
type property struct {
	t       testing.TB
	s       *Selector
	current string
	tags    []string
	chosen  Selection
}

func newProperty(t testing.TB, s *Selector, current string, tags []string) property {
	t.Helper()
	w := property{t: t, s: s, current: current, tags: tags}
	w.chosen = w.choose(current, tags)
	return w
}

func (w property) choose(current string, tags []string) Selection {
	w.t.Helper()
	sel, err := w.s.Select(w.t.Context(), current, tags)
	if err != nil {
		w.t.Fatal(err)
	}
	return sel
}

func (w property) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%q among %q: %+v: %s", w.current, w.tags, w.chosen, fmt.Sprintf(format, args...))
}

// check asserts all that holds for any tags.
func (w property) check(r *rand.Rand) {
	w.t.Helper()
	w.isNewer()
	w.isIdempotent()
	w.ignoresOrder(r)
	w.isExplained()
}

// isNewer: the result is a tag of the list and strictly newer, or the current one.
func (w property) isNewer() {
	w.t.Helper()
	c := w.chosen
	if c.Newer != (c.Kept > 0) || c.Newer != (c.Tag != w.current) || (c.Newer && !slices.Contains(w.tags, c.Tag)) {
		w.fail("inconsistent")
	}
	if !c.Newer {
		return
	}
	var a, b version
	if !w.s.read(&a, w.s.Transform(w.current)) || !w.s.read(&b, w.s.Transform(c.Tag)) || compareVersions(&b, &a) <= 0 ||
		compareVersions(&a, &b) >= 0 {
		w.fail("not newer")
	}
	if !b.stage.release() && b.stage < a.stage && !w.s.prerelease {
		w.fail("less of a release")
	}
	if back := w.choose(c.Tag, []string{w.current}); back.Newer {
		w.fail("and back")
	}
}

// isIdempotent: after the update there is nothing more to do on its base, and what the
// base was left for is final.
func (w property) isIdempotent() {
	w.t.Helper()
	if after := w.choose(w.chosen.Tag, append(slices.Clone(w.tags), w.current)); w.chosen.Newer && after.Newer &&
		(w.chosen.LeftBase != "" || after.LeftBase == "") {
		w.fail("then to %+v", after)
	}
}

// ignoresOrder: neither the order of the tags matters, nor whether one is listed twice,
// nor tags that cannot be selected.
func (w property) ignoresOrder(r *rand.Rand) {
	w.t.Helper()
	tags := append(slices.Clone(w.tags), "latest", "sha-abc1234", "9.9.9.sig", "unrelated")
	r.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
	if again := w.choose(w.current, tags); again.Tag != w.chosen.Tag || again.Kept != w.chosen.Kept {
		w.fail("shuffled %q: %+v", tags, again)
	}
	if again := w.choose(w.current, append(tags, tags...)); again.Tag != w.chosen.Tag {
		w.fail("twice: %q", again.Tag)
	}
	x := newSample(r).text
	e, err := w.s.Explain(w.t.Context(), w.current, append(slices.Clone(w.tags), x))
	if err != nil {
		w.t.Fatal(err)
	}
	last := e.Verdicts[len(e.Verdicts)-1]
	// A tag that the include pattern admits may say that the family is not to be left.
	decides := w.s.include != nil && last.Reason != ReasonInclude && last.Reason != ReasonExclude
	if !last.Kept && !decides && e.Tag != w.chosen.Tag {
		w.fail("with %q, which is %s: %q", x, last.Reason, e.Tag)
	}
}

// isExplained: the explanation decides the same and accounts for each tag.
func (w property) isExplained() {
	w.t.Helper()
	e, err := w.s.Explain(w.t.Context(), w.current, w.tags)
	c := w.chosen
	if err != nil || e.Tag != c.Tag || e.Newer != c.Newer || e.Kept != c.Kept ||
		phrase.English(phrase.Join("; ", e.Warnings...)) != phrase.English(phrase.Join("; ", c.Warnings...)) {
		w.fail("explained %+v, %v", e.Selection, err)
	}
	if len(e.Verdicts) != len(w.tags) || e.Omitted != 0 {
		w.fail("%d verdicts", len(e.Verdicts))
	}
	kept, crowned := 0, false
	for i, v := range e.Verdicts {
		if v.Tag != w.tags[i] || v.Detail == nil || v.Kept != (v.Reason == ReasonNewer || v.Reason == ReasonNewest) ||
			(v.Reason == ReasonNewest) != (c.Newer && v.Tag == c.Tag) {
			w.fail("verdict %+v", v)
		}
		if v.Kept {
			kept++
		}
		crowned = crowned || v.Reason == ReasonNewest
	}
	if kept != c.Kept || crowned != c.Newer {
		w.fail("%d kept", kept)
	}
}

func TestSelectProperties(t *testing.T) {
	var selectors []*Selector
	for _, r := range propertyRules {
		selectors = append(selectors, mustCompile(t, r))
	}
	r := rand.New(rand.NewPCG(7, 7))
	moves, steps := 0, 0
	for range *rounds {
		i := r.IntN(len(propertyRules))
		s, current := selectors[i], newSample(r)
		meant := map[string]sample{}
		tags := make([]string, r.IntN(14))
		for i := range tags {
			one := newSample(r)
			if r.IntN(3) > 0 { // of the same variant, else few would be related
				one = current.variant(r)
			}
			tags[i], meant[one.text] = one.text, one
		}
		w := newProperty(t, s, current.text, tags)
		w.check(r)
		if w.chosen.Newer {
			moves++
			chosen := meant[w.chosen.Tag]
			if s.transform == nil && chosen.older(current) {
				w.fail("older")
			}
			if admitted, _ := s.include.match(current.text); s.transform == nil && (admitted || s.include == nil) &&
				!chosen.follows(current) {
				w.fail("of another family")
			}
			steps += w.isTransitive(r, current)
		}
	}
	if moves < *rounds/5 || steps < *rounds/50 {
		t.Errorf("%d moves and %d second steps: too few to tell", moves, steps)
	}
	t.Logf("%d moves, %d second steps", moves, steps)
}

// variant makes a tag that differs from s in its numbers only.
func (s sample) variant(r *rand.Rand) sample {
	if len(s.main) == 0 {
		return newSample(r)
	}
	for {
		if v := newSample(r); len(v.main) == len(s.main) {
			start, end, _ := span(s.text)
			from, to, _ := span(v.text)
			if start == end || from == to {
				return v
			}
			return sample{text: s.text[:start] + v.text[from:to] + s.text[end:], main: v.main, family: s.family}
		}
	}
}

// isTransitive: if the chosen tag has a successor, the container gets that when it is
// there, too. It returns how many successors it tried.
func (w property) isTransitive(r *rand.Rand, current sample) int {
	w.t.Helper()
	tried := 0
	for range 4 {
		next := current.variant(r).text
		if r.IntN(2) > 0 {
			next = newSample(r).text
		}
		step := w.choose(w.chosen.Tag, []string{next})
		if !step.Newer {
			continue
		}
		tried++
		want := next
		if step.LeftBase != "" && w.chosen.LeftBase == "" && w.choose(w.current, []string{w.chosen.Tag}).Newer {
			want = w.chosen.Tag // stays on the base as long as it can
		}
		if both := w.choose(w.current, []string{w.chosen.Tag, next}); both.Tag != want && both.Tag != next {
			w.fail("then to %q, but to %q at once", next, both.Tag)
		}
	}
	return tried
}

// The comparison of versions is antisymmetric and transitive.
func TestOrderIsTransitive(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for range 5 * *rounds {
		one := newSample(r)
		texts := [3]string{one.text, one.variant(r).text, newSample(r).text}
		var v [3]version
		for i := range v {
			if pinned := (reading{runtimes: true}); !v[i].read(texts[i], pinned) {
				v[i].read("1.0.0", pinned)
			}
		}
		for i := range v {
			for j := range v {
				if (compareVersions(&v[i], &v[j]) > 0) != (compareVersions(&v[j], &v[i]) < 0) {
					t.Fatalf("%q and %q do not compare both ways", texts[i], texts[j])
				}
				for k := range v {
					if compareVersions(&v[i], &v[j]) > 0 && compareVersions(&v[j], &v[k]) > 0 && compareVersions(&v[i], &v[k]) <= 0 {
						t.Fatalf("%q > %q > %q is not transitive", texts[i], texts[j], texts[k])
					}
				}
			}
		}
	}
}

// Tags of the corpus as the running one, with all properties: each one in the soak form.
func TestSelectPropertiesInCorpus(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	s, stride := mustCompile(t, Rules{}), max(1, soak / *rounds)
	for _, repository := range readCorpus(t) {
		for i := r.IntN(stride); i < len(repository.tags); i += stride {
			newProperty(t, s, repository.tags[i], repository.tags).check(r)
		}
	}
}
