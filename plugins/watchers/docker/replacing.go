package docker

import (
	"sync"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
)

// replacing are the old containers of the operations that are under way. They have the
// names of backups for that time; to users they are what they were, not one container more.
type replacing struct {
	mu  sync.Mutex
	old map[string]predecessor // by id
}

// predecessor is an old container: the name that it had and the one it has meanwhile.
type predecessor struct{ name, meanwhile string }

// begin adds the old containers of an operation, and returns how to end that.
func (p *replacing) begin(r *replacement) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.old == nil {
		p.old = map[string]predecessor{}
	}
	var ids []string
	for name, c := range r.old {
		if c.ContainerJSONBase == nil {
			continue
		}
		ids = append(ids, c.ID)
		p.old[c.ID] = predecessor{name, replace.Backup(name, r.op.ID)}
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, id := range ids {
			delete(p.old, id)
		}
	}
}

// apparent returns containers as users know them: an old one that is being replaced has
// its name until another container has that, and is left out from then on. What is left
// over after an operation is not changed, whatever its name.
func (p *replacing) apparent(all []container.Summary) []container.Summary {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.old) == 0 {
		return all
	}
	taken := map[string]bool{}
	for _, c := range all {
		taken[containerName(c)] = true
	}
	shown := make([]container.Summary, 0, len(all))
	for _, c := range all {
		if old, found := p.old[c.ID]; found && containerName(c) == old.meanwhile {
			if taken[old.name] {
				continue
			}
			c.Names = []string{"/" + old.name}
		}
		shown = append(shown, c)
	}
	return shown
}
