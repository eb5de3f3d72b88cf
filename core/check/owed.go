package check

import (
	"maps"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// owed are updates that are stored and that no check of the whole watcher has
// reported: whoever is told once per whole check is owed them. They were found
// by checks of single containers, or by a whole one that has not ended, or never
// did. The names of the containers are kept by their ids.
type owed map[string]string

// foundBy returns the updates that events tell of.
func foundBy(events []event.Event) owed {
	found := owed{}
	for _, e := range events {
		if e.Type == event.UpdateFound && e.Container != nil {
			found[e.Container.ID] = e.Container.Name
		}
	}
	return found
}

// with returns both together.
func (o owed) with(more owed) owed {
	all := maps.Clone(o)
	if all == nil {
		all = owed{}
	}
	maps.Copy(all, more)
	return all
}

// has reports whether the update of a container is owed. One that was renamed
// or recreated since then is the same.
func (o owed) has(c *sdk.Container) bool {
	if _, same := o[c.ID]; same {
		return true
	}
	for _, name := range o {
		if name == c.Name {
			return true
		}
	}
	return false
}

// Owe makes the next whole check of a container's watcher report the update of
// the container, as if this process had found it outside of a whole check.
func (c *Checker) Owe(found sdk.Container) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.state(found.Watcher)
	w.owed = w.owed.with(owed{found.ID: found.Name})
}

// owes returns what the watcher's checks have found and not reported.
func (p *pass) owes() owed {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state(p.watcher.Name).owed
}

// reported notes what was stored, and whether a whole check ended with it.
func (p *pass) reported(found owed, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := p.state(p.watcher.Name)
	if last && !p.report.Single {
		st.owed = nil
		return
	}
	st.owed = st.owed.with(found)
}
