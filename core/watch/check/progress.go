package check

import (
	"slices"
	"strings"
)

// Progress is how far the check of a whole watcher is.
type Progress struct {
	Watcher string `json:"watcher"`
	// Checked is how many containers have their result, of Total.
	Checked int `json:"checked"`
	Total   int `json:"total"`
}

// Progress returns how far the checks of whole watchers are that are under way,
// by watcher. One that has not listed its containers yet is not among them.
func (c *Checker) Progress() []Progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []Progress{}
	for name, st := range c.watchers {
		if r := st.running; r != nil && r.total > 0 {
			all = append(all, Progress{Watcher: name, Checked: r.checked, Total: r.total})
		}
	}
	slices.SortFunc(all, func(a, b Progress) int { return strings.Compare(a.Watcher, b.Watcher) })
	return all
}

// advance notes that more containers have their result, and says that a whole check goes on.
func (p *pass) advance(more int) {
	if len(p.only) > 0 {
		return
	}
	p.mu.Lock()
	r := p.state(p.watcher.Name).running
	if r != nil {
		r.checked, r.total = r.checked+more, len(p.targets)
	}
	p.mu.Unlock()
	if r != nil && p.opt.Progressed != nil {
		p.opt.Progressed()
	}
}
