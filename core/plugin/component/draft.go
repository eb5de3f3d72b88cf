package component

import (
	"fmt"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// typed is a component of one kind while it is made: what differs between the kinds.
type typed interface {
	based
	// attach connects it to the bundle that holds its type.
	attach(*plugin.Supervisor, kind.Type)
	// setSettings decodes and validates the host's own options.
	setSettings(option.Values, *Options) ([]config.Problem, error)
	// configured records the plugin's response to the configuration.
	configured(pluginclient.Configured, error)
}

// newTyped returns a component of the section's kind.
func newTyped(section config.Component, byDefault bool) typed {
	var t typed
	switch section.Kind {
	case kind.Watcher:
		t = &Watcher{}
	case kind.Registry:
		t = &Registry{}
	default:
		t = &Trigger{}
	}
	c := t.base()
	c.Kind, c.Type, c.Name, c.Default, c.section, c.state = section.Kind, section.Type, section.Name, byDefault,
		section, Pending
	return t
}

// draft is a component that is made and not listed yet.
type draft struct {
	component typed
	problems  []config.Problem
	known     bool // its type
}

// add makes a component of a section and has its plugin configure it.
func (m *Manager) add(section config.Component, byDefault bool) {
	d := m.draft(section, byDefault)
	m.mu.Lock()
	m.keep(d)
	m.mu.Unlock()
	m.configure(d.component, func() {})
}

// draft makes a component of a section.
func (m *Manager) draft(section config.Component, byDefault bool) draft {
	component := newTyped(section, byDefault)
	c := component.base()
	bundle, t, known := m.opt.Plugins.Find(section.Kind, section.Type)
	d := draft{component: component, known: known}
	switch {
	case known:
		c.bundle, c.typ = bundle, t
		component.attach(bundle, t)
		d.problems = append(m.resolve(component, t, section), m.withheld(c, bundle, t)...)
	default:
		d.problems = append([]config.Problem{m.unknownType(section)}, section.Problems...)
	}
	return d
}

// configure has its plugin configure a component that is valid. responded is called once,
// when the plugin has responded first, or at once when there is nothing to configure.
func (m *Manager) configure(component typed, responded func()) {
	c := component.base()
	if !c.valid {
		responded()
		return
	}
	m.count(func() { m.pending[c.Kind]++ })
	first := sync.OnceFunc(func() {
		m.count(func() { m.pending[c.Kind]-- })
		responded()
	})
	c.bundle.Configure(c.spec(), func(got pluginclient.Configured, err error) {
		component.configured(got, err)
		m.configured(c, got, err)
		first()
		m.opt.Changed(c)
	})
}

// spec is the component as its plugin gets it.
func (c *Component) spec() pluginclient.Instance {
	return pluginclient.Instance{ID: c.FullID(), Kind: c.Kind, Type: c.Type, Options: c.Options}
}

// keep lists a component and its problems. One whose type is known is valid unless a
// problem is an error. m.mu is held.
func (m *Manager) keep(d draft) {
	c, problems := d.component.base(), d.problems
	if w, ok := d.component.(*Watcher); ok {
		if other := m.sameName(w); other != nil {
			problems = append(problems, config.Problem{Key: c.FullID(), Level: config.Error,
				Message: fmt.Sprintf("there is a watcher named %q already (%s); containers are told apart by the watcher's name", c.Name, other.ID())})
		}
	}
	m.list(d.component)
	var fatal []string
	for _, p := range problems {
		if p.Level == config.Error {
			fatal = append(fatal, p.String())
			m.log.Error("component is misconfigured", "component", c.FullID(), "error", p.String())
		} else {
			c.hostWarnings = append(c.hostWarnings, p.String())
			m.log.Warn("configuration", "component", c.FullID(), "problem", p.String())
		}
	}
	c.problems = problems
	if len(fatal) > 0 {
		c.state, c.err = Failed, &sdk.InvalidError{Fields: []sdk.FieldError{{Detail: strings.Join(fatal, "; ")}}}
	}
	c.valid = d.known && len(fatal) == 0
}

// list appends a component to those there are. m.mu is held.
func (m *Manager) list(component typed) {
	switch component := component.(type) {
	case *Watcher:
		m.watchers = append(m.watchers, component)
	case *Registry:
		m.registries = append(m.registries, component)
	case *Trigger:
		m.triggers = append(m.triggers, component)
	}
	m.all = append(m.all, component)
}

// sameName returns the listed watcher with the name of w; nil when there is none. m.mu is held.
func (m *Manager) sameName(w *Watcher) *Watcher {
	for _, other := range m.watchers {
		if other.Name == w.Name {
			return other
		}
	}
	return nil
}
