package overview

import (
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// unsentOf are sentences about what could not be sent, one for each trigger and reason. Those of
// triggers that update are about what could not be done; updates of shown are left out, as
// another sentence is about their end.
func unsentOf(failed, pending []delivery.Delivery, triggers []service.Component,
	shown map[string]bool) []containers.Line {
	updates := map[string]bool{}
	for _, t := range triggers {
		updates[t.ID] = t.Acts
	}
	type what struct{ trigger, reason string }
	counts, order := map[what]int{}, []what{}
	for _, d := range slices.Concat(failed, pending) {
		if d.Error == "" || d.Manual || updates[d.Trigger] && shown[d.Subject] { // a manual run showed its error to its user
			continue
		}
		w := what{d.Trigger, d.Error}
		if counts[w] == 0 {
			order = append(order, w)
		}
		counts[w]++
	}
	var lines []containers.Line
	for _, w := range order {
		word, text := phrase.New("not sent"), phrase.New("%s could not send %s: %s", w.trigger, phrase.Count(counts[w], "message"), phrase.Quote(w.reason))
		if updates[w.trigger] {
			word, text = phrase.New("failed"), phrase.Join(": ", phrase.Verbatim(w.trigger), phrase.Quote(w.reason))
		}
		lines = append(lines, containers.Line{
			Kind: "failed", Word: word, Text: text,
			To: "/deliveries?state=failed&trigger=" + url.QueryEscape(w.trigger), Act: phrase.New("See and retry"),
		})
	}
	return lines
}

// componentsOf are sentences about what is configured and does not work.
func componentsOf(components []service.Component) []containers.Line {
	var lines []containers.Line
	for _, c := range components {
		if c.State == component.Failed {
			lines = append(lines, containers.Line{
				Kind: "failed", Word: phrase.New("failed"),
				Text: phrase.Join(": ", phrase.Verbatim(string(c.Kind)+" "+c.ID), phrase.Quote(withoutKey(c.Error, c))),
				To:   page.KindPath(c.Kind) + "/" + url.PathEscape(c.Type) + "/" + url.PathEscape(c.Name), Act: phrase.New("See what to do"),
			})
		}
	}
	return lines
}

// withoutKey is an error whose beginning does not repeat what it is about: the
// errors of options begin with their full names.
func withoutKey(text string, c service.Component) string {
	return strings.TrimPrefix(text, c.Key()+".")
}

// pluginsOf are sentences about plugins that do not run though they should.
func pluginsOf(plugins []service.Plugin) []containers.Line {
	var lines []containers.Line
	for _, s := range plugins {
		if s.State.Well() {
			continue
		}
		lines = append(lines, containers.Line{
			Kind: "failed", Word: phrase.New("plugin"),
			Text: phrase.Join(": ", phrase.New("Plugin %s is %s", s.Name, string(s.State)), phrase.Quote(s.Error)),
			To:   "/plugins", Act: phrase.New("See what to do"),
		})
	}
	return lines
}

// outdatedOf are sentences about installed plugins of which there is a newer version.
func outdatedOf(plugins []service.Plugin) []phrase.Phrase {
	var sentences []phrase.Phrase
	for _, p := range plugins {
		if p.Installed != nil && p.Installed.Available != "" {
			sentences = append(sentences, phrase.New("Plugin %s: a newer version is available, %s.", p.Name, p.Installed.Available))
		}
	}
	return sentences
}
