package check

import (
	"regexp"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestExplainInGerman: every sentence of an explanation, its warnings and what it says of tags.
func TestExplainInGerman(t *testing.T) {
	w, german := open(t), language.New().Named("de")
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0", "2.0.0", "1.26.0-alpine", "latest", "1.24.0", "sha256-1.sig"}
	w.hub.tags["library/memcached"] = []string{"1.6.33-alpine3.21", "1.6.34-alpine3.22"}
	w.hub.tags["library/nextcloud"] = []string{"28.0.1-apache", "29.0.7-apache", "30.0.2-apache"}
	w.engine.has(container("web", "nginx:1.25.0", `wud.tag.exclude=^9`, "dogwatch.tag.inlcude=1", "wud.tag.include= ^1 "),
		container("latest", "nginx:latest", "dogwatch.watch.digest=false"), container("base", "memcached:1.6.33-alpine3.21"))
	w.run()
	built := container("built", "nginx:latest")
	built.Image.Built = true
	explained := []Explanation{w.ExplainImage(t.Context(), "nginx"), w.ExplainImage(t.Context(), "nginx@"+digest("1")),
		w.ExplainImage(t.Context(), "nextcloud:28.0.1-apache"), w.Explain(t.Context(), built)}
	for _, id := range []string{"web", "latest", "base"} {
		explained = append(explained, w.Explain(t.Context(), w.get("id-"+id)))
	}
	english := regexp.MustCompile(`\b(the|is|of|and|not|with|no|are|to|by|from|it|its|has|that)\b`)
	check := func(text phrase.Text) {
		if said := german.Say(text); said == "" || english.MatchString(said) {
			t.Errorf("%q", said)
		}
	}
	for _, e := range explained {
		for _, text := range append(e.Summary, e.Warnings...) {
			check(text)
		}
		for _, v := range e.Tags {
			check(v.Detail)
		}
	}
	held := &sdk.Decision{State: sdk.StateHeld, Reasons: []sdk.Reason{{Code: "window.closed", Text: "it waits"}}}
	for _, text := range decisionSentences(held) {
		check(phrase.Text{Phrase: text})
	}
}

// TestHeldByAgeSaysWhenAnOlderVersionMayBeOffered: the decision changes before the newest version is old enough.
func TestHeldByAgeSaysWhenAnOlderVersionMayBeOffered(t *testing.T) {
	newest := sdk.TimeOf(time.Date(2027, 1, 10, 3, 0, 0, 0, time.Local))
	for want, until := range map[string]sdk.Time{
		"An older one may be offered on Sun 6 Dec 2026 09:10.": sdk.TimeOf(time.Date(2026, 12, 6, 9, 10, 0, 0, time.Local)),
		"Each newer version starts the wait again.":            newest,
	} {
		said := decisionSentences(&sdk.Decision{State: sdk.StateHeld, Until: until, Reasons: []sdk.Reason{
			{Code: policy.ReasonMinAge, Text: "2.0.0 must be 42 days old", Until: newest},
		}})
		if last := said[len(said)-1].String(); last != want {
			t.Errorf("until %s it says %q, want %q", until, last, want)
		}
	}
}
