package update

import (
	"sync"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Predecessors are the old containers of the operations that are under way. They have the
// names of backups for that time; to users they are what they were, not one container more.
type Predecessors struct {
	mu  sync.Mutex
	old map[string]predecessor // by id
}

// predecessor is an old container: the name that it had and the one it has meanwhile.
// stopped is true when it did not run before the operation.
type predecessor struct {
	name, meanwhile string
	stopped         bool
}

// Begin adds the old containers of an operation, by the names that they had, and returns how to end that.
func (p *Predecessors) Begin(op watcher.Operation, old map[string]replace.Container) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.old == nil {
		p.old = map[string]predecessor{}
	}
	before := replace.Statuses(op.Plan)
	var ids []string
	for name, c := range old {
		if c.ContainerJSONBase == nil {
			continue
		}
		ids = append(ids, c.ID)
		p.old[c.ID] = predecessor{
			name: name, meanwhile: replace.Backup(name, op.ID), stopped: before[name] == replace.Stopped,
		}
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, id := range ids {
			delete(p.old, id)
		}
	}
}

// Any reports whether an operation is under way.
func (p *Predecessors) Any() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.old) > 0
}

// Apparent returns containers as users know them: an old one that is being replaced has
// its name until another container has that, and is left out from then on. What is left
// over after an operation is not changed, whatever its name. Unless stopped ones are
// wanted, a new container counts when it runs, and until then the old one does.
func (p *Predecessors) Apparent(found []container.Summary, stopped bool) []container.Summary {
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted := func(c container.Summary) bool { return stopped || engine.Runs(c) }
	taken := map[string]bool{}
	for _, c := range found {
		if wanted(c) {
			taken[engine.Name(c)] = true
		}
	}
	shown := make([]container.Summary, 0, len(found))
	for _, c := range found {
		old, replaced := p.old[c.ID]
		switch {
		case replaced && engine.Name(c) == old.meanwhile:
			if taken[old.name] || !stopped && old.stopped {
				continue
			}
			c.Names = []string{"/" + old.name}
		case replaced && old.stopped, !replaced:
			if !wanted(c) {
				continue
			}
		}
		shown = append(shown, c)
	}
	return shown
}
