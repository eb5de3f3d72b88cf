package check

import (
	"maps"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// backlog has updates that are stored and that no check of the whole watcher has
// reported: they are pending for triggers in batch mode. They were found by checks
// of single containers, or by a whole one that has not ended, or never did. The
// names of the containers are kept by their ids.
type backlog map[string]string

// backlogOf returns the updates that events announce.
func backlogOf(events []event.Event) backlog {
	found := backlog{}
	for _, e := range events {
		if e.Type == event.UpdateFound && e.Container != nil {
			found[e.Container.ID] = e.Container.Name
		}
	}
	return found
}

// with returns both together.
func (b backlog) with(more backlog) backlog {
	all := maps.Clone(b)
	if all == nil {
		all = backlog{}
	}
	maps.Copy(all, more)
	return all
}

// has reports whether the update of a container is in the backlog. A container that was renamed
// or recreated since then is the same.
func (b backlog) has(c *sdk.Container) bool {
	if _, same := b[c.ID]; same {
		return true
	}
	for _, name := range b {
		if name == c.Name {
			return true
		}
	}
	return false
}

// backlog returns what the watcher's checks have found and not reported.
func (p *pass) backlog() backlog {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state(p.watcher.Name).backlog
}

// reported notes what was stored, and whether a whole check ended with it.
func (p *pass) reported(found backlog, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := p.state(p.watcher.Name)
	if last && !p.report.Single {
		st.backlog = nil
		return
	}
	st.backlog = st.backlog.with(found)
}
