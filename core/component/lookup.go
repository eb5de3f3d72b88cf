package component

import (
	"cmp"
	"net"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// All returns the components of a kind, sorted by type and name.
func (m *Manager) All(k kind.Kind) []*Component {
	m.mu.Lock()
	defer m.mu.Unlock()
	var of []*Component
	for _, c := range m.all {
		if c.Kind == k {
			of = append(of, c)
		}
	}
	slices.SortFunc(of, func(a, b *Component) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name))
	})
	return of
}

// Get returns one component. Type and name are compared without regard to case.
func (m *Manager) Get(k kind.Kind, typ, name string) (*Component, bool) {
	for _, c := range m.All(k) {
		if strings.EqualFold(c.Type, typ) && strings.EqualFold(c.Name, name) {
			return c, true
		}
	}
	return nil, false
}

// ByID returns the component with the id "type.name".
func (m *Manager) ByID(k kind.Kind, id string) (*Component, bool) {
	typ, name, _ := strings.Cut(id, ".")
	return m.Get(k, typ, name)
}

// Watcher returns the watcher called name.
func (m *Manager) Watcher(name string) (*Component, bool) {
	for _, c := range m.All(kind.Watcher) {
		if c.Name == name {
			return c, true
		}
	}
	return nil, false
}

// Watchers returns the names of all watchers in the order of the configuration.
func (m *Manager) Watchers() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for _, c := range m.all {
		if c.Kind == kind.Watcher {
			names = append(names, c.Name)
		}
	}
	return names
}

// RegistryFor returns the registry that serves a host, and the base URL of the
// host's API. The most specific pattern wins: the exact host, then what begins
// with a name, then the longest suffix, then "*"; among equals a configured
// component beats a default one.
func (m *Manager) RegistryFor(host string) (*Component, string, bool) {
	var best *Component
	var url string
	var rank int
	for _, c := range m.All(kind.Registry) {
		for _, h := range c.Hosts() {
			r := specificity(h, host)
			if r > 0 && !c.Default {
				r++
			}
			if r > rank {
				best, rank, url = c, r, h.URL
			}
		}
	}
	if best != nil && url == "" {
		url = scheme(host) + "://" + host + "/v2"
	}
	return best, url, best != nil
}

// scheme is https, but for this very machine, where engines also expect plain registries.
func scheme(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if ip := net.ParseIP(strings.Trim(name, "[]")); name == "localhost" || ip != nil && ip.IsLoopback() {
		return "http"
	}
	return "https"
}

// specificity ranks how well a pattern matches a host; 0 means not at all.
// Ranks are even, so that callers can break ties.
func specificity(h registry.Host, host string) int {
	switch {
	case !h.Serves(host):
		return 0
	case !strings.Contains(h.Pattern, "*"):
		return 1 << 20
	case !strings.HasPrefix(h.Pattern, "*"):
		return 1<<19 + 2*len(h.Pattern)
	}
	return 2 * len(h.Pattern)
}
