package tag

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Syntax that Go's regexp lacks works as in JavaScript.
func TestJavaScriptSyntax(t *testing.T) {
	for _, c := range []struct {
		pattern   string
		yes, no   string
		backtrack bool
	}{
		{`^\d+$`, "12", "1a", false},
		{`^(?!.*rc)\d`, "1.0", "1.0-rc1", true},
		{`^\d+(?=-alpine)`, "1-alpine", "1-perl", true},
		{`(?<=v)1$`, "v1", "1", true},
		{`(?<!-)rc$`, "1rc", "1-rc", true},
		{`^(\d)\1$`, "11", "12", true},
		{`^\u0031$`, "1", "2", true},
		{`^\x31$`, "1", "2", false},
		{`^[^]$`, "x", "xy", true},
		{`^a{2,1500}$`, "aa", "a", true},
		{`^(?<major>\d+)$`, "1", "x", false},
		{`^(?P<major>\d+)$`, "1", "x", false}, // JavaScript refuses it; it is in use
		{`(?i)RC`, "1-rc", "1", false},        // the same
		{`^v?\d+\.\d+\.\d+\-alpine$`, "1.2.3-alpine", "1.2.3", false},
	} {
		p, err := compile(c.pattern)
		if err != nil {
			t.Errorf("compile(%q): %v", c.pattern, err)
			continue
		}
		if (p.linear == nil) != c.backtrack {
			t.Errorf("%q backtracks: %v", c.pattern, p.linear == nil)
		}
		yes, err1 := p.match(c.yes)
		no, err2 := p.match(c.no)
		if !yes || no || err1 != nil || err2 != nil {
			t.Errorf("%q matches %q: %v %v, %q: %v %v", c.pattern, c.yes, yes, err1, c.no, no, err2)
		}
	}
}

func TestRuleErrors(t *testing.T) {
	for _, c := range []struct {
		rules Rules
		rule  string
		want  []string
	}{
		{Rules{Include: "["}, "include", []string{`tag include pattern "["`, "character 1", `write \[`}},
		{Rules{Include: `^v(\d+$`}, "include", []string{`pattern "^v(\d+$"`, "'('", "character 3", "bracket"}},
		{Rules{Include: "(\x1b\xff"}, "include", []string{`pattern "(\x1b\xff"`}},
		{Rules{Exclude: `a)`}, "exclude", []string{"tag exclude", "')'", "character 2"}},
		{Rules{Exclude: `(?=x)[a`}, "exclude", []string{"'['", "character 6"}},
		{Rules{Exclude: `\)[\]](`}, "exclude", []string{"'('", "character 7"}},
		{Rules{Exclude: `[z-a]`}, "exclude", []string{"character 4", "[z-a]", "low to high"}},
		{Rules{Exclude: `*rc`}, "exclude", []string{"character 1", `write \ before`}},
		{Rules{Exclude: `(?=a)b{2}{3}`}, "exclude", []string{"nested repetition", "character 12", "one thing"}},
		{Rules{Exclude: `(?<=a)[z-a]`}, "exclude", []string{"reverse order", "character 10"}},
		{Rules{Exclude: `a\`}, "exclude", []string{`\ at end`, "character 2", "remove"}},
		{Rules{Transform: `( => $1`}, "transform", []string{`tag transform pattern "( => $1"`, "'('", "character 1"}},
		{Rules{Include: strings.Repeat("a", 1025)}, "include", []string{"1025 characters", "shorten it to 1024"}},
		{Rules{Transform: "a => $1" + strings.Repeat("a", 1024)}, "transform", []string{"shorten it to 1024"}},
	} {
		s, err := Compile(c.rules)
		var bad *RuleError
		if s != nil || !errors.As(err, &bad) || bad.Rule != c.rule || bad.Err == nil {
			t.Errorf("Compile(%+v) = %v, %v", c.rules, s, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Compile(%+v): %q does not say %q", c.rules, err, want)
			}
		}
	}
	if _, err := Compile(Rules{Include: strings.Repeat("a", 1024)}); err != nil {
		t.Error(err)
	}
}

// A pattern that backtracks for ever costs one timeout, not one for each tag.
func TestTimeoutAbandonsTheFilter(t *testing.T) {
	slow := `^(?=a)(a+)+$`
	tags := make([]string, 1000)
	for i := range tags {
		tags[i] = strings.Repeat("a", 40) + "!"
	}
	for _, r := range []Rules{{Include: slow}, {Exclude: slow}} {
		start := time.Now()
		sel, err := mustCompile(t, r).Select(t.Context(), "1.0", tags)
		var bad *RuleError
		if !errors.Is(err, ErrTimeout) || !errors.As(err, &bad) || sel.Tag != "1.0" || sel.Newer {
			t.Errorf("%+v: %+v, %v", r, sel, err)
		}
		if took := time.Since(start); took > 20*time.Second { // 1000 timeouts are minutes
			t.Errorf("%+v took %s", r, took)
		}
	}
	s := mustCompile(t, Rules{Transform: slow + " => $1"})
	if e, err := s.Explain(t.Context(), tags[0], tags); !errors.Is(err, ErrTimeout) || e.Tag != tags[0] ||
		e.Verdicts != nil {
		t.Errorf("transform of the current tag: %+v, %v", e, err)
	}
	if s.IsVersion(tags[0]) || s.Transform(tags[0]) != tags[0] {
		t.Error("a transform that takes too long leaves the tag as it is")
	}
}

// A transform may be quick on the current tag and take too long on another one.
func TestSlowTransformOfCandidateIsAnError(t *testing.T) {
	s := mustCompile(t, Rules{Transform: `^(?=1)1(a+)+$ => $1`})
	tags := []string{"1.1", "1" + strings.Repeat("a", 40) + "!"}
	sel, err := s.Select(t.Context(), "1.0", tags)
	var bad *RuleError
	if !errors.Is(err, ErrTimeout) || !errors.As(err, &bad) || bad.Rule != "transform" || sel.Tag != "1.0" || sel.Newer {
		t.Errorf("select: %+v, %v", sel, err)
	}
	if e, err := s.Explain(t.Context(), "1.0", tags); !errors.Is(err, ErrTimeout) || e.Newer || e.Verdicts != nil {
		t.Errorf("explain: %+v, %v", e, err)
	}
}

// TestPatternsMatchAsInJavaScript holds the patterns that users put on containers. Those
// that cannot do what was meant say so.
func TestPatternsMatchAsInJavaScript(t *testing.T) {
	var corpus struct {
		Tags             []string
		Include, Exclude []struct {
			Value   string
			Matches []int // indexes of Tags; nil if JavaScript refuses the pattern
		}
		Transform []struct {
			Value   string
			Changes map[string]string
		}
	}
	load(t, "patterns.json", &corpus)
	warned := map[string]string{
		`^\\d+\\.\\d+\\.\\d+$`:          "backslash",
		`^v\\d+\\.\\d+\\.\\d+$`:         "backslash",
		`^\\d{4}\\.\\d{2}\\.\\d{2}-.*$`: "backslash",
		`^ubuntu7\\.\\d+\\.\\d+$`:       "backslash",
		`^v\\d+\\.\\d+\\.\\d+.*$`:       "backslash",
		`^\\d+\\.\\d+\\.\\d+.*$`:        "backslash",
		`^v?\\d+\\.\\d+\\.\\d+.*$`:      "backslash",
		`/^\\d+\\.\\d+\\.\\d+$/`:        "slashes",
		`v^\d+\.\d+\.\d+$`:              "before ^",
		`^${PG_VERSION}$`:               "$$",
		`^\d+\.\d+\$`:                   "dollar sign",
		`^master-daily$"`:               "quotation mark",
		`^v(\d+\.\d+)\.\d+$ => $1`:      "transform",
	}
	ignored := map[string]string{
		`semver`:          "ignored",
		`s/^v//`:          "ignored",
		`^v3$ => rolling`: "placeholder",
	}
	// Go accepts what JavaScript refuses, and it works as meant.
	refused := map[string][]string{
		`^v(?P<major>\d+)\.(?P<minor>\d+)\.(?P<patch>\d+)-ls\d+$`: {"v1.2.3-ls4"},
		`.*(?i)(rc|beta|alpha).*`: {"14-vectorchord0.4.3-pgvectors0.3.0", "1.0.0-rc1", "1.0.0-beta.2", "v1.0.0-beta3",
			"15.4.0-beta.2", "2.0.0-beta",
			"0.4.7-beta-release", "2.1.0-alpha", "9.18-22.04_beta", "v2.0.6.3-2.0.6.3_beta-ls104"},
		`^*selenoid*$`: nil,
	}
	check := func(rules Rules, value string, warned map[string]string) *Selector {
		s, err := Compile(rules)
		if err != nil {
			t.Fatalf("%+v: %v", rules, err)
		}
		want, ok := warned[value]
		text := phrase.English(phrase.Join(" ", s.warnings...))
		if (len(s.warnings) > 0) != ok || !strings.Contains(text, want) {
			t.Errorf("%q: warnings %q, want %q", value, s.warnings, want)
		}
		return s
	}
	compare := func(f *filter, value string, matches []int) {
		var got, want []string
		for _, tag := range corpus.Tags {
			if ok, err := f.match(tag); err != nil {
				t.Fatal(err)
			} else if ok {
				got = append(got, tag)
			}
		}
		for _, i := range matches {
			want = append(want, corpus.Tags[i])
		}
		if matches == nil {
			tags, listed := refused[value]
			if !listed {
				t.Errorf("%q is not listed as refused by JavaScript", value)
			}
			want = tags
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q matches %q, want %q", value, got, want)
		}
	}
	for _, p := range corpus.Include {
		compare(check(Rules{Include: p.Value}, p.Value, warned).include, p.Value, p.Matches)
	}
	for _, p := range corpus.Exclude {
		compare(check(Rules{Exclude: p.Value}, p.Value, warned).exclude, p.Value, p.Matches)
	}
	for _, p := range corpus.Transform {
		s := check(Rules{Transform: p.Value}, p.Value, ignored)
		for _, tag := range corpus.Tags {
			want, changed := p.Changes[tag]
			if !changed {
				want = tag
			}
			if got := s.Transform(tag); got != want {
				t.Errorf("%q: %q becomes %q, want %q", p.Value, tag, got, want)
			}
		}
	}
}
