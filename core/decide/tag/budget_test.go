package tag

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// huge is a kilobyte that Go's engine would write out as a hundred megabytes.
var huge = `(?:` + strings.Repeat(`.?`, 490) + `){0,1000}!`

// The program of a pattern is bounded before it is compiled.
func TestCompileRefusesHugeProgram(t *testing.T) {
	for _, r := range []Rules{{Include: huge}, {Exclude: huge}, {Transform: huge + ` => $1`}, {
		Include: `^(\w{1,100}){1,10}$`,
	}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := Compile(r)
		runtime.ReadMemStats(&after)
		var bad *RuleError
		if s != nil || !errors.As(err, &bad) || !strings.Contains(err.Error(), "repeat less") {
			t.Errorf("%.40v: %v, %v", r, s, err)
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 4 {
			t.Errorf("%.40v takes %d MB", r, mb)
		}
	}
	if _, err := Compile(Rules{Include: `^[a-z0-9][a-z0-9._-]{0,127}$`}); err != nil {
		t.Error(err)
	}
}

// Patterns that are slow on each tag, but never time out, are stopped as a whole, those of
// the linear engine, too.
func TestSlowDecisionIsBounded(t *testing.T) {
	for rule, r := range map[string]Rules{
		"include": {Include: `^(?=1)`}, "exclude": {Exclude: `^(?=x)`, Include: `^(?:1.?.?.?){1,20}`},
		"transform": {Transform: `^(1.*)$ => $1`, Exclude: `z`},
	} {
		d := search{
			Selector: mustCompile(t, r), ctx: t.Context(), judged: new(version), deadline: time.Now().Add(-time.Second),
		}
		err := d.judgeAll([]string{"1"}, nil)
		var bad *RuleError
		if !errors.Is(err, ErrTimeout) || !errors.As(err, &bad) || bad.Rule != rule {
			t.Errorf("%+v: %v", r, err)
		}
	}
	d := search{
		Selector: mustCompile(t, Rules{}), ctx: t.Context(), judged: new(version), deadline: time.Now().Add(-time.Second),
	}
	if err := d.judgeAll([]string{"1"}, nil); err != nil {
		t.Errorf("without patterns: %v", err)
	}
}

// The largest program that is allowed, on tags that keep all of it busy, ends soon after its time: few tags are judged
// then, however long a busy machine takes for each.
func TestSlowLinearPatternEnds(t *testing.T) {
	d := search{
		Selector: mustCompile(t, Rules{Include: `(?:` + strings.Repeat(`.?`, 90) + `){0,10}!`}), ctx: t.Context(),
		judged: new(version), deadline: time.Now().Add(matchBudget / 10),
	}
	judged, late := 0, 0
	err := d.judgeAll(slices.Repeat([]string{strings.Repeat("a", 127)}, 20_000), func(*search, string, Reason) {
		judged++
		if time.Now().After(d.deadline) {
			late++
		}
	})
	if !errors.Is(err, ErrTimeout) || late > 16 {
		t.Errorf("%v after %d tags, %d of them late", err, judged, late)
	}
}

// A decision ends with its check.
func TestSelectIsCancelled(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range []Rules{{}, {Include: `^\d`}, {Include: `^(?=\d)`}} {
		s := mustCompile(t, r)
		if sel, err := s.Select(cancelled, "1.0", []string{"1.1"}); !errors.Is(err, context.Canceled) || sel.Newer ||
			sel.Tag != "1.0" {
			t.Errorf("select by %+v: %+v, %v", r, sel, err)
		}
		if e, err := s.Explain(cancelled, "1.0", []string{"1.1"}); !errors.Is(err, context.Canceled) || e.Verdicts != nil {
			t.Errorf("explain by %+v: %+v, %v", r, e, err)
		}
	}
}

// What is too long for a tag is not matched at all: the work is in proportion to its length.
func TestPatternIgnoresLongText(t *testing.T) {
	long := strings.Repeat("1", 1<<20)
	for _, r := range []Rules{{Include: `1`}, {Include: `(?=1)`}} {
		if matched, err := mustCompile(t, r).include.match(long); matched || err != nil {
			t.Errorf("%+v: %v, %v", r, matched, err)
		}
	}
	for _, formula := range []string{`^(1+)$ => 1.$1`, `^(?=1)(1+)$ => 1.$1`} {
		if got := mustCompile(t, Rules{Transform: formula}).Transform(long); got != long {
			t.Errorf("%s transforms it", formula)
		}
	}
}

// The same rules are compiled once, errors included, and only so many are kept.
func TestCompilerCachesPatterns(t *testing.T) {
	var c Compiler
	rules := Rules{Include: `^1\.\d+$`}
	first, err := c.Compile(rules)
	if again, _ := c.Compile(rules); err != nil || first == nil || again != first {
		t.Errorf("%p, then %p, %v", first, again, err)
	}
	_, broken := c.Compile(Rules{Include: `[`})
	if _, again := c.Compile(Rules{Include: `[`}); broken == nil || again != broken {
		t.Errorf("%v, then %v", broken, again)
	}
	for i := range 2*maxCompiled + 10 {
		if _, err := c.Compile(Rules{Include: strings.Repeat("a", i%1000), Prerelease: i >= 1000}); err != nil {
			t.Fatal(err)
		}
		if len(c.compiled) > maxCompiled || c.size > maxSizes {
			t.Fatalf("keeps %d rules of %d instructions", len(c.compiled), c.size)
		}
	}
}
