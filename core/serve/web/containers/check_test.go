package containers

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestCheckResultSentences(t *testing.T) {
	s := webtest.Stored(t, webtest.Container("one"), webtest.Container("two", webtest.Newer("2.0.0", "major")),
		webtest.Container("three", webtest.Failed("503")))
	of := rows{
		redact: strings.ToLower, icon: func(string, string) string { return "x" }, now: webtest.Noon,
	}
	for want, names := range map[string][]string{
		"It is up to date.":                        {"one"},
		"There is a newer version: 2.0.0 (major).": {"two"},
		"The check failed: 503.":                   {"three"},
		"The engine does not have it any more.":    {"gone"},
		"Checked: 1 update · 1 up to date.":        {"one", "two"},
		"Checked: 1 failed · 1 up to date.":        {"one", "three"},
	} {
		var chosen []sdk.Container
		for _, name := range names {
			chosen = append(chosen, webtest.Container(name))
		}
		if got, _ := checked(s.Snapshot(), of, chosen, make([]error, len(chosen))); got.String() != want {
			t.Errorf("%v: %q, want %q", names, got, want)
		}
	}
}
