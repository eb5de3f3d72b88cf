package policy

import (
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy/window"
)

// RuleZone is the time zone of windows and freezes that name none, as policy.zone.
const RuleZone = "zone"

// Layer is rules as they are written in one place, by their names.
type Layer struct {
	Values map[string]string
	// Source says where a value comes from, by its name; see Setting.
	Source func(name string) string
}

// DefaultSource is the source of what is not set.
const DefaultSource = "default"

// maxResolved bounds how many rules a Resolver remembers.
const maxResolved = 1000

// Resolver makes rules of layers, and remembers them, since most containers have the same.
// It may be used concurrently.
type Resolver struct {
	mu    sync.Mutex
	known map[string]Rules
}

// Resolve returns the rules of layers: of each rule the first that is written counts. One
// that cannot be read becomes a problem that names its source.
func (r *Resolver) Resolve(layers ...Layer) Rules {
	written := writtenIn(layers)
	var id strings.Builder
	for _, w := range written {
		id.WriteString(w.name + "\x00" + w.text + "\x00" + w.source + "\x00")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rules, known := r.known[id.String()]
	if !known {
		rules = resolve(written)
		if r.known == nil || len(r.known) >= maxResolved {
			r.known = map[string]Rules{}
		}
		r.known[id.String()] = rules
	}
	return rules
}

// rule is one rule as it is written.
type rule struct{ name, text, source string }

// writtenIn returns the first of each rule.
func writtenIn(layers []Layer) (written []rule) {
	for _, name := range append(RuleNames(), RuleZone) {
		for _, layer := range layers {
			if text := strings.TrimSpace(layer.Values[name]); text != "" {
				written = append(written, rule{name, text, layer.Source(name)})
				break
			}
		}
	}
	return written
}

func resolve(written []rule) Rules {
	rules := Rules{Mode: Setting[Mode]{Notify, DefaultSource}, Threshold: Setting[string]{"all", DefaultSource}}
	rules.Major.Source, rules.MinAge.Source, rules.Security.Source = DefaultSource, DefaultSource, DefaultSource
	rules.Window.Source, rules.Freeze.Source, rules.Skip.Source = DefaultSource, DefaultSource, DefaultSource
	problem := func(source string, err error) {
		rules.Problems = append(rules.Problems, Problem{Source: source, Text: source + ": " + err.Error()})
	}
	var zone *time.Location
	for _, w := range written {
		if w.name != RuleZone {
			continue
		}
		var err error
		if zone, err = window.Zone(w.text); err != nil {
			problem(w.source, err)
		}
	}
	for _, w := range written {
		if w.name == RuleZone {
			continue
		}
		if err := rules.Set(w.name, w.text, w.source, zone); err != nil {
			problem(w.source, err)
		}
	}
	return rules
}
