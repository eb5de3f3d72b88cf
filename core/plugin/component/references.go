package component

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// naming is an option that names a component.
type naming struct {
	option, names, to string
	source            string
}

// referencesOf returns the options of a component that name others.
func referencesOf(schema option.Schema, values option.Values, section config.Component) (all []naming) {
	for _, o := range schema {
		to, _ := values[o.Name].(string)
		if to = strings.ToLower(strings.TrimSpace(to)); o.Refers != "" && to != "" {
			all = append(all, naming{option: o.Name, names: o.Refers, to: to, source: section.Options[o.Name].Source})
		}
	}
	return all
}

// unresolved returns the references to what is not configured. m.mu is held.
func (m *Manager) unresolved() (problems []config.Problem) {
	for _, component := range m.all {
		c := component.base()
		for _, r := range c.references {
			known := m.named(r.names)
			if slices.Contains(known, r.to) {
				continue
			}
			p := config.Problem{Key: c.FullID() + "." + r.option, Source: r.source, Level: config.Error}
			p.Message = fmt.Sprintf("names the %s %q, which is not configured", r.names, r.to)
			if near := option.Suggest(r.to, known); near != "" {
				p.Remedy = fmt.Sprintf("did you mean %s?", near)
			}
			problems = append(problems, p)
		}
	}
	return problems
}

// named returns the ids of the components of a kind, those that wait for their plugin included.
func (m *Manager) named(what string) (all []string) {
	for _, component := range m.all {
		if c := component.base(); string(c.Kind) == what {
			all = append(all, c.ID())
		}
	}
	for _, section := range m.waiting {
		if section.Kind == kind.Kind(what) {
			all = append(all, section.Type+"."+section.Name)
		}
	}
	return all
}

// TriggerIDs returns the ids of the triggers that are configured, whether or not they work.
func (m *Manager) TriggerIDs() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.named(string(kind.Trigger))
}

// LogReferences logs the references to what is not configured, once all components are known.
func (m *Manager) LogReferences() {
	m.mu.Lock()
	problems := m.unresolved()
	m.mu.Unlock()
	for _, p := range problems {
		m.log.Error("configuration", "problem", p.String())
	}
}
