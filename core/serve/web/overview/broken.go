package overview

import (
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
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
		word, text := phrase.New("not sent"), phrase.New("%s could not send %s: %s", w.trigger,
			phrase.Count(counts[w], "message"), words.BriefMistake(words.Undelivered(w.trigger, w.reason)))
		if updates[w.trigger] {
			word, text = phrase.New("failed"), phrase.Join(": ", phrase.Verbatim(w.trigger), words.BriefMistake(w.reason))
		}
		lines = append(lines, containers.Line{
			Kind: "failed", Word: word, Text: text,
			To: "/deliveries?trigger=" + url.QueryEscape(w.trigger), Act: phrase.New("See deliveries"),
		})
	}
	return lines
}

// componentsOf are sentences about what is configured and does not work. Those of plugins that do not run are left out,
// as the sentence about the plugin names them.
func componentsOf(components []service.Component, plugins []service.Plugin) []containers.Line {
	var lines []containers.Line
	for _, c := range components {
		named := slices.ContainsFunc(plugins, func(p service.Plugin) bool { return failedBy(c, p) })
		if c.State == component.Failed && !named {
			lines = append(lines, containers.Line{
				Kind: "failed", Word: words.Down(),
				Text: phrase.Join(": ", phrase.Verbatim(c.Label()), words.BriefMistake(withoutKey(c.Error, c))),
				To:   page.KindPath(c.Kind) + "/" + url.PathEscape(c.Type) + "/" + url.PathEscape(c.Name), Act: phrase.New("See what to do"),
			})
		}
	}
	return lines
}

// withoutKey is an error that does not repeat what it is about: the errors of options
// begin with their full names.
func withoutKey(text string, c service.Component) string {
	text = strings.TrimPrefix(text, c.Key()+".")
	return strings.ReplaceAll(text, "; "+c.Key()+".", "; ")
}

// failedBy reports whether a component failed since its plugin does not run: one that provides its type, or that is
// named after it and never ran.
func failedBy(c service.Component, p service.Plugin) bool {
	return !p.State.Well() && (slices.Contains(p.Types, plugin.TypeName{Kind: c.Kind, Type: c.Type}) ||
		p.Name == string(c.Kind)+"-"+c.Type)
}

// pluginsOf are sentences about plugins that do not run though they should, with the components that fail by that.
func pluginsOf(plugins []service.Plugin, components []service.Component) []containers.Line {
	var lines []containers.Line
	for _, p := range plugins {
		if p.State.Well() {
			continue
		}
		line := containers.Line{
			Kind: "failed", Word: phrase.New("plugin"), Text: phrase.Join(": ", pluginSaid(p), words.BriefMistake(p.Error)),
			To: "/plugins", Act: phrase.New("See what to do"),
		}
		for _, c := range components {
			if c.State == component.Failed && failedBy(c, p) {
				line.Text = phrase.Join(". ", line.Text, phrase.New("%s does not work.", c.Label()))
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// pluginSaid says of a plugin what is wrong with it.
func pluginSaid(p service.Plugin) phrase.Phrase {
	switch p.State {
	case plugin.Backoff:
		return phrase.New("Plugin %s crashed and is started again", p.Name)
	case plugin.Broken:
		return phrase.New("Plugin %s failed", p.Name)
	case plugin.Untrusted:
		return phrase.New("Plugin %s is not trusted", p.Name)
	}
	return phrase.New("Plugin %s cannot be used", p.Name)
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
