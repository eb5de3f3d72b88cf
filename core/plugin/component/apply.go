package component

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Changes are the components that another configuration adds, removes and changes, by
// their full ids, such as trigger.smtp.main, in the order of the configurations.
type Changes struct {
	Added, Removed, Changed []string
}

// Any reports whether there are any.
func (c Changes) Any() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) > 0 }

// entry is a component that is wanted.
type entry struct {
	section   config.Component
	byDefault bool
	// kept is the component that goes on as it is; nil when it is to be made.
	kept typed
}

// Apply makes the components those of other sections. One whose section and type are
// what they were goes on undisturbed, and the calls of one that changes are let
// finish. It returns when the plugins of new and changed ones have responded, or ctx
// ends; what is wrong with one is its state. Load and Finish come first.
func (m *Manager) Apply(ctx context.Context, sections []config.Component) Changes {
	m.applying.Lock()
	defer m.applying.Unlock()
	m.mu.Lock()
	m.permits = permitsOf(sections)
	before := m.all
	m.mu.Unlock()
	wanted, changes := m.compare(before, sections)
	drafts := make([]draft, len(wanted))
	for i, w := range wanted {
		if w.kept == nil {
			drafts[i] = m.draft(w.section, w.byDefault)
		}
	}
	m.mu.Lock()
	// At no moment a component is missing that was there and stays.
	m.all, m.watchers, m.registries, m.triggers = nil, nil, nil, nil
	for i, w := range wanted {
		if w.kept != nil {
			m.list(w.kept)
		} else {
			m.keep(drafts[i])
		}
	}
	m.mu.Unlock()
	var responses sync.WaitGroup
	for _, d := range drafts {
		if d.component == nil {
			continue
		}
		responses.Add(1)
		m.configure(d.component, responses.Done)
		if c := d.component.base(); !c.valid {
			m.opt.Changed(c)
		}
	}
	m.release(before)
	done := make(chan struct{})
	go func() { // ends once every plugin has responded, which each start and stop bounds
		defer close(done)
		responses.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return changes
}

// Compare returns what Apply would change.
func (m *Manager) Compare(sections []config.Component) Changes {
	m.mu.Lock()
	before := m.all
	m.mu.Unlock()
	_, changes := m.compare(before, sections)
	return changes
}

// compare finds for each wanted component the one that is there already.
func (m *Manager) compare(before []typed, sections []config.Component) (wanted []entry, changes Changes) {
	there := map[string]typed{}
	for _, component := range before {
		there[component.base().FullID()] = component
	}
	by := permitsOf(sections)
	names := map[string]bool{} // of watchers
	want := func(section config.Component, byDefault bool) {
		component, exists := there[section.Key()]
		delete(there, section.Key())
		e := entry{section: section, byDefault: byDefault}
		switch {
		case !exists:
			changes.Added = append(changes.Added, section.Key())
		case m.unchanged(component, section, byDefault, by):
			// else what was wrong may be well by now
			if c := component.base(); c.valid && !(c.Kind == kind.Watcher && names[c.Name]) {
				e.kept = component
			}
		default:
			changes.Changed = append(changes.Changed, section.Key())
		}
		if section.Kind == kind.Watcher {
			names[section.Name] = true
		}
		wanted = append(wanted, e)
	}
	for _, section := range sections {
		want(section, false)
	}
	for _, section := range m.defaults(sections) {
		want(section, true)
	}
	for _, component := range before {
		if id := component.base().FullID(); there[id] != nil {
			changes.Removed = append(changes.Removed, id)
		}
	}
	return wanted, changes
}

// unchanged reports whether a component is what would be made of a section.
func (m *Manager) unchanged(component typed, section config.Component, byDefault bool, by permits) bool {
	c := component.base()
	bundle, t, _ := m.opt.Plugins.Find(section.Kind, section.Type)
	if c.Default != byDefault || !c.section.Same(section) || c.bundle != bundle || !reflect.DeepEqual(c.typ, t) ||
		bundle != nil && !slices.Equal(c.missing, bundle.MissingGrants(t)) {
		return false
	}
	w, ok := component.(*Watcher)
	return !ok || by.to(section, t.Options) == w.permittedBy
}

// release ends those that are not listed any more, unless another one of the same
// bundle has replaced them.
func (m *Manager) release(before []typed) {
	m.mu.Lock()
	now := map[string]*Component{}
	for _, component := range m.all {
		now[component.base().FullID()] = component.base()
	}
	m.mu.Unlock()
	var wait sync.WaitGroup
	for _, component := range before {
		c := component.base()
		after := now[c.FullID()]
		if after == c || !c.valid || after != nil && after.valid && after.bundle == c.bundle {
			continue
		}
		wait.Go(func() { c.bundle.Release(c.FullID()) })
	}
	wait.Wait()
}

// Validate has plugins check sections of which Apply would make new or other components,
// and returns what is wrong with those; nothing changes. Problems of sections that are
// wrong already, and stay as they are, are none.
func (m *Manager) Validate(ctx context.Context, sections []config.Component) (problems []config.Problem) {
	m.mu.Lock()
	before := m.all
	m.mu.Unlock()
	wanted, changes := m.compare(before, sections)
	fresh := map[string]bool{}
	for _, id := range append(append([]string{}, changes.Added...), changes.Changed...) {
		fresh[id] = true
	}
	// Of another manager nothing is listed, and what it logs is repeated by the caller.
	other := New(m.opt)
	other.log, other.permits = hclog.NewNullLogger(), permitsOf(sections)
	for _, w := range wanted {
		if w.kept != nil {
			other.list(w.kept)
			continue
		}
		d := other.draft(w.section, w.byDefault)
		other.keep(d)
		c := d.component.base()
		if !fresh[c.FullID()] {
			continue
		}
		problems = append(problems, c.problems...)
		if !c.valid {
			continue
		}
		// A plugin that cannot be started is no mistake in a section.
		if err := c.bundle.Validate(ctx, c.spec()); err != nil && !errors.Is(err, sdk.ErrUnavailable) {
			for _, f := range fields(err) {
				key := c.FullID()
				if f.Field != "" {
					key = fmt.Sprintf("%s.%s", key, f.Field)
				}
				problems = append(problems, config.Problem{Key: key, Message: f.Detail, Level: config.Error})
			}
		}
	}
	return problems
}
