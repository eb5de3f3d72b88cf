package tag

import (
	"fmt"
	"strings"
	"testing"
)

func TestExplainReasons(t *testing.T) {
	for _, c := range []struct {
		rules   Rules
		current string
		tag     string
		reason  Reason
		detail  string // part of it
	}{
		{Rules{}, "1.0.0", "1.1.0", ReasonNewest, "newest"},
		{Rules{}, "1.0.0", "1.0.0", ReasonCurrent, "current"},
		{Rules{}, "1.0.0", "1.1.0.sig", ReasonArtifact, "signature"},
		{Rules{}, "1.0.0", "sha-1", ReasonSHA, "sha"},
		{Rules{Include: "^1"}, "1.0.0", "2.0.0", ReasonInclude, `"^1"`},
		{Rules{Exclude: "^2"}, "1.0.0", "2.0.0", ReasonExclude, `"^2"`},
		{Rules{}, "latest", "2.0.0", ReasonCurrentNotVersion, `"latest"`},
		{Rules{}, "v1.0.0", "2.0.0", ReasonPrefix, `"v"`},
		{Rules{}, "1.0.0", "v2.0.0", ReasonPrefix, "number"},
		{Rules{}, "1.0.0", "7b368146", ReasonNotVersion, "no version"},
		{Rules{}, "1.0.0", "2.0", ReasonCount, "3 numbers"},
		{Rules{}, "1.0-alpine3.19", "2.0-12-abc1234", ReasonFamily, "the family -N-<commit>, not -alpineN.N"},
		{Rules{}, "1.0", "2.0a", ReasonFamily, "the family X, not without suffix"},
		{Rules{}, "1.0.0", "2.0.0-rc1", ReasonPrerelease, "prerelease"},
		{Rules{}, "2.0.0-rc1", "2.1.0-alpha1", ReasonPrerelease, "earlier kind"},
		{Rules{}, "17", "20240101", ReasonDate, "date"},
		{Rules{}, "10.11", "2021.12", ReasonCalendar, "year"},
		{Rules{}, "1.0.0", "0.9.0", ReasonNotNewer, "not newer"},
	} {
		e, err := mustCompile(t, c.rules).Explain(t.Context(), c.current, []string{c.tag})
		if err != nil || len(e.Verdicts) != 1 {
			t.Fatalf("%+v, %v", e, err)
		}
		v := e.Verdicts[0]
		if v.Tag != c.tag || v.Reason != c.reason || !strings.Contains(v.Detail.String(), c.detail) ||
			v.Kept != (c.reason == ReasonNewest) {
			t.Errorf("%q for %q: %+v, want %s", c.tag, c.current, v, c.reason)
		}
	}
}

// The list of verdicts is bounded, counts what it leaves out, and has the winner.
func TestExplainIsBounded(t *testing.T) {
	var tags []string
	for i := range 3000 {
		tags = append(tags, fmt.Sprintf("1.%d.0", i), "latest", "0.1.0")
	}
	e, err := mustCompile(t, Rules{}).Explain(t.Context(), "1.0.0", tags)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Verdicts) != 2*maxVerdicts+1 || len(e.Verdicts)+e.Omitted != len(tags) || e.Tag != "1.2999.0" ||
		e.Kept != 2999 {
		t.Errorf("%d verdicts, %d omitted, %q of %d", len(e.Verdicts), e.Omitted, e.Tag, e.Kept)
	}
	if last := e.Verdicts[len(e.Verdicts)-1]; last.Tag != e.Tag || last.Reason != ReasonNewest {
		t.Errorf("%+v", last)
	}
}
