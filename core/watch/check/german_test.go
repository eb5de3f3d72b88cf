package check

import (
	"regexp"
	"testing"

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
