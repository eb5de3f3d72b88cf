package component

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// All returns what the components of a kind share, sorted by type and name.
func (m *Manager) All(k kind.Kind) []*Component {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*Component
	for _, listed := range m.all {
		if c := listed.base(); c.Kind == k {
			all = append(all, c)
		}
	}
	return sorted(all)
}

// Get returns what one component shares with other kinds. Type and name are
// compared without regard to case.
func (m *Manager) Get(k kind.Kind, typ, name string) (*Component, bool) {
	return withID(m.All(k), typ+"."+name)
}

// Watchers returns every watcher, sorted by type and name.
func (m *Manager) Watchers() []*Watcher {
	m.mu.Lock()
	defer m.mu.Unlock()
	return sorted(m.watchers)
}

// Registries returns every registry, sorted by type and name.
func (m *Manager) Registries() []*Registry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return sorted(m.registries)
}

// Triggers returns every trigger, sorted by type and name.
func (m *Manager) Triggers() []*Trigger {
	m.mu.Lock()
	defer m.mu.Unlock()
	return sorted(m.triggers)
}

// Watcher returns the watcher with the id "type.name", compared without regard to case.
func (m *Manager) Watcher(id string) (*Watcher, bool) { return withID(m.Watchers(), id) }

// Registry returns the registry with the id "type.name", compared without regard to case.
func (m *Manager) Registry(id string) (*Registry, bool) { return withID(m.Registries(), id) }

// Trigger returns the trigger with the id "type.name", compared without regard to case.
func (m *Manager) Trigger(id string) (*Trigger, bool) { return withID(m.Triggers(), id) }

// WatcherNamed returns the watcher called name, as containers name theirs.
func (m *Manager) WatcherNamed(name string) (*Watcher, bool) {
	for _, w := range m.Watchers() {
		if w.Name == name {
			return w, true
		}
	}
	return nil, false
}

// WatcherNames returns the names of all watchers in the order of the configuration.
func (m *Manager) WatcherNames() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for _, w := range m.watchers {
		names = append(names, w.Name)
	}
	return names
}

// based is what embeds a Component, or is one.
type based interface{ base() *Component }

// sorted returns a copy of all, by type and name.
func sorted[T based](all []T) []T {
	return slices.SortedFunc(slices.Values(all), order[T])
}

// order compares two components by type and name.
func order[T based](a, b T) int {
	x, y := a.base(), b.base()
	return cmp.Or(strings.Compare(x.Type, y.Type), strings.Compare(x.Name, y.Name))
}

// withID returns the one of all that has the id "type.name".
func withID[T based](all []T, id string) (found T, known bool) {
	i := slices.IndexFunc(all, func(c T) bool { return strings.EqualFold(c.base().ID(), id) })
	if i < 0 {
		return found, false
	}
	return all[i], true
}

// RegistryFor returns the registry that serves a host, and the base URL of the
// host's API. The most specific pattern wins: the exact host, then what begins
// with a name, then the longest suffix, then "*"; among equals a configured
// component beats a default one, and the first by type and name all others.
func (m *Manager) RegistryFor(host string) (*Registry, string, bool) {
	m.mu.Lock()
	all := m.registries
	m.mu.Unlock()
	var best *Registry
	var url string
	var rank int
	for _, c := range all {
		for _, h := range c.Hosts() {
			r := reference.Specificity(h, host)
			if r > 0 && !c.Default {
				r++
			}
			if r > rank || r == rank && r > 0 && order(c, best) < 0 {
				best, rank, url = c, r, h.URL
			}
		}
	}
	if best != nil && url == "" {
		url = reference.BaseURL(host)
	}
	return best, url, best != nil
}
