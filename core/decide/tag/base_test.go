package tag

import (
	"strings"
	"testing"
)

// A newer version on the base of the current tag is offered before a still newer one on
// another base.
func TestSelectStaysOnBase(t *testing.T) {
	run(t, []scenario{
		{Rules{}, "1.6.33-alpine3.21", "1.6.34-alpine3.21 1.6.38-alpine3.22", "1.6.34-alpine3.21"},
		{Rules{}, "12.4.1-base-ubuntu22.04", "12.5.0-base-ubuntu22.04 12.6.3-base-ubuntu24.04 12.6.3-devel-ubuntu22.04",
			"12.5.0-base-ubuntu22.04"},
		{Rules{}, "3.4.1-debian-11-r0", "3.4.2-debian-11-r3 3.4.2-debian-11-r10 3.5.0-debian-12-r1", "3.4.2-debian-11-r10"},
		{Rules{}, "7.9.0-1-ubi8", "7.9.1-2-ubi8 8.0.0-1-ubi9", "7.9.1-2-ubi8"},
		{Rules{}, "3.1.14-18", "3.1.14-16 3.1.14-18 3.1.14-20 3.1.15-18 4.0.9-20 4.0.9-22 4.0.9", "3.1.15-18"},
		{Rules{}, "3.1.14-18-minimal", "3.1.14-18 3.1.14-20 3.1.15-18-minimal 3.1.16-18 4.0.9-20-minimal",
			"3.1.15-18-minimal"},
		{Rules{}, "1.0-almalinux-9", "1.1-almalinux-9 1.2-almalinux-10", "1.1-almalinux-9"},
		{Rules{}, "1.0_debian_12", "1.1_debian_12 1.2_debian_13", "1.1_debian_12"},
		// The updates of a base's release are no other base.
		{Rules{}, "1.0-ubi9.4", "1.1-ubi9.4 1.2-ubi9.5 1.3-ubi10.0", "1.2-ubi9.5"},
		// With an include pattern too, unless it does not admit the current base.
		{Rules{Include: `-alpine`}, "1.0-alpine3.19", "1.1-alpine3.19 1.2-alpine3.20", "1.1-alpine3.19"},
		{Rules{Include: `-alpine3\.20$`}, "1.0-alpine3.19", "1.0-alpine3.20 1.1-alpine3.19", "1.0-alpine3.20"},
		{Rules{Exclude: `-alpine3\.19$`}, "1.0-alpine3.19", "1.0-alpine3.20 1.1-alpine3.19", "1.0-alpine3.20"},
	})
}

// Only when nothing newer is on the base, the next one is offered.
func TestSelectLeavesDroppedBase(t *testing.T) {
	for _, c := range []struct{ current, tags, want, left string }{
		{"1.6.33-alpine3.21", "1.6.32-alpine3.21 1.6.34-alpine3.22 1.6.38-alpine3.23", "1.6.38-alpine3.23", "alpine3.21"},
		{"1.6.33-alpine3.21", "1.6.38-alpine3.23 1.6.38-alpine3.22 1.6.38-alpine3.20", "1.6.38-alpine3.22", "alpine3.21"},
		{"4.2.0-debian-11-r5", "4.2.0-debian-11-r50 4.3.0-debian-12-r0", "4.3.0-debian-12-r0", "debian-11"},
		{"7.9.0-1-ubi8", "7.9.0-2-ubi9 8.0.0-1-ubi9", "8.0.0-1-ubi9", "ubi8"},
		{"7.9.0-1-ubi8", "7.9.0-2-ubi9", "7.9.0-2-ubi9", "ubi8"},
		{"3.1.14-18", "3.1.14-16 3.1.14-20 4.1.0-20 4.1.0-22 4.1.0", "4.1.0-20", "18"},
		// The same version on another base is no update: both are published.
		{"12.6.3-base-ubuntu22.04", "12.6.3-base-ubuntu20.04 12.6.3-base-ubuntu24.04", "", ""},
		{"4.2.0-debian-11-r5", "4.2.0-debian-12-r9", "", ""},
		{"3.1.14-18", "3.1.14-16 3.1.14-20", "", ""},
		// A floating tag whose base gets no more precise tags any more has been left behind.
		{"16-alpine3.19", "16-alpine3.20 16-alpine3.21 16.5-alpine3.19 16.6-alpine3.20 16.7-alpine3.20 16.7-alpine3.21",
			"16-alpine3.20", "alpine3.19"},
		{"16-alpine3.19", "16-alpine3.20 16-alpine3.21 16.5-alpine3.19 16.6-alpine3.20 16.7-alpine3.21",
			"16-alpine3.21", "alpine3.19"},
		{"16-alpine3.19", "16-alpine3.20 16.6-alpine3.19 16.6-alpine3.20", "", ""},
		{"16-alpine3.19", "16-alpine3.20 16.6-alpine3.19 17.1-alpine3.20 16.7rc1-alpine3.20", "", ""},
		{"16-alpine3.19", "16-alpine3.20 16.6-alpine3.20", "", ""},
	} {
		sel, err := mustCompile(t, Rules{}).Select(t.Context(), c.current, strings.Fields(c.tags+" "+c.current))
		if err != nil || (c.want != "" && sel.Tag != c.want) || sel.Newer != (c.want != "") || sel.LeftBase != c.left {
			t.Errorf("%q among %s: %+v, %v; want %q", c.current, c.tags, sel, err, c.want)
		}
	}
}

// A bare number of two digits is a base only where it does not count builds.
func TestSelectBareNumberCountsBuilds(t *testing.T) {
	run(t, []scenario{
		{Rules{}, "3.1.14-18", "3.1.14-17 3.1.14-18 3.1.15-18 3.1.16-20", "3.1.16-20"},
		{Rules{}, "3.1.14-18", "3.1.14-1 3.1.14-20 3.1.15-18 3.1.16-20", "3.1.16-20"},
		{Rules{}, "3.1.14-18", "3.1.14-18 3.1.15-18 3.1.16-20", "3.1.16-20"},
		{Rules{}, "10.8.13-1", "10.8.13-3 10.9.0-1 10.10.3-2", "10.10.3-2"},
		{Rules{}, "11.1.0-67429", "11.1.0-67431 11.2.0-67429 11.2.1-70000", "11.2.1-70000"},
		{Rules{}, "1.0-alpine-1", "1.0-alpine-2 1.1-alpine-1 1.2-alpine-3", "1.2-alpine-3"},
		{Rules{}, "5.14.0.9383-ls245", "5.14.0.9383-ls246 6.3.0.10514-ls312", "6.3.0.10514-ls312"},
		{Rules{}, "2.0.0-r10", "2.0.0-r11 2.1.0-r2", "2.1.0-r2"},
		{Rules{}, "2.0.0-alpine-20240101", "2.1.0-alpine-20240102 2.2.0-alpine-20240101", "2.2.0-alpine-20240101"},
	})
}

// Where nothing but the number moves, it counts builds.
func TestSelectBareNumberIsAllThatMoves(t *testing.T) {
	run(t, []scenario{
		{Rules{}, "7.9-46", "7.9-46 7.9-49", "7.9-49"},
		{Rules{}, "7.9-46", "7.9-32 7.9-46 7.9-49 7.9-52 7.9-55", "7.9-55"},
		{Rules{}, "7.9-46", "7.9-46 7.9-48", "7.9-48"},
		{Rules{}, "7.9-46", "7.8-12 7.8-40 7.9-46 7.9-49 latest 7.9 sha256-49.sig", "7.9-49"},
		{Rules{}, "7.9-49", "7.9-46 7.9-49", ""},
		{Rules{}, "1.1.0-11-dd2f3b1f", "1.0.0-99-7b368146 1.1.0-11-dd2f3b1f 1.1.0-69-75b859d2", "1.1.0-69-75b859d2"},
		// The same numbers with two versions, or every other even one, are a runtime's.
		{Rules{}, "3.1.14-18", "3.1.14-16 3.1.14-18 3.1.14-20", ""},
		{Rules{}, "3.1.14-18", "3.1.14-18 3.1.14-20", "3.1.14-20"},
		{Rules{}, "1.0.6-10", "1.0.6-10 1.0.6-12 3.0.2-16 3.1.3-16 3.1.3-18", "3.1.3-16"},
	})
}

// Explain tells which tags were passed over for the base, and why a base is left.
func TestExplainSaysBase(t *testing.T) {
	s := mustCompile(t, Rules{})
	verdict := func(current, tags, tag string) Verdict {
		t.Helper()
		e, err := s.Explain(t.Context(), current, strings.Fields(tags))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range e.Verdicts {
			if v.Tag == tag {
				return v
			}
		}
		t.Fatalf("no verdict on %q", tag)
		return Verdict{}
	}
	for _, c := range []struct {
		tags, tag string
		kept      bool
		reason    Reason
		detail    string
	}{
		{"1.1-alpine3.19 1.2-alpine3.20", "1.2-alpine3.20", false, ReasonBase, "the base alpine3.19"},
		{"1.1-alpine3.19 1.2-alpine3.20", "1.1-alpine3.19", true, ReasonNewest, "newest"},
		{"1.1-alpine3.20 1.2-alpine3.20", "1.2-alpine3.20", true, ReasonNewest,
			"nothing newer is published on the base alpine3.19"},
		{"1.1-alpine3.20 1.2-alpine3.20", "1.1-alpine3.20", true, ReasonNewer, "not the newest"},
		{"1.0-alpine3.20", "1.0-alpine3.20", false, ReasonNotNewer, "on the base alpine3.20 instead of alpine3.19"},
		{"1.0-alpine3.20 1.0.1-alpine3.19 1.0.2-alpine3.20", "1.0-alpine3.20", true, ReasonNewest, "the base alpine3.19"},
	} {
		if v := verdict("1.0-alpine3.19", c.tags, c.tag); v.Kept != c.kept || v.Reason != c.reason ||
			!strings.Contains(v.Detail.String(), c.detail) {
			t.Errorf("%q among %s: %+v, want %s", c.tag, c.tags, v, c.reason)
		}
	}
}
