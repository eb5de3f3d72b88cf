package check

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/budget"
)

// Budgets returns the hosts to which requests were made, or which have an allowance, in the
// order of their names. Next goes by the last checks of all watchers in this process.
func (c *Checker) Budgets() []budget.Forecast {
	next := map[string]int{}
	c.mu.Lock()
	for _, st := range c.watchers {
		for host, n := range st.requests {
			next[strings.ToLower(host)] += n
		}
	}
	c.mu.Unlock()
	return c.opt.Queries.Budget().Plan(next)
}

// Concurrency returns how many requests hosts get at a time now, by their names.
func (c *Checker) Concurrency() map[string]int { return c.opt.Queries.Concurrency() }

// estimate remembers how many requests a check of a whole watcher makes at most, by host, and says where that is more
// than may be made now: the rest is postponed, and goes first the next time.
func (p *pass) estimate(ctx context.Context, requests map[string]int) {
	for _, host := range slices.Sorted(maps.Keys(requests)) {
		if s, short := p.opt.Queries.Shortage(ctx, host, requests[host]); short {
			p.log.Info("a check is spread over several, as what its host allows is used up before its end", "watcher",
				p.watcher.Name, "host", host, "needs", s.Needs, "left", s.Left, "allowed", s.Allowed)
		}
	}
	if len(p.only) > 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state(p.watcher.Name).requests = requests
}

// SaveRequests keeps what was counted of requests since it was last called. What is lost when it
// fails is counted too little after the next start, which is only logged.
func (c *Checker) SaveRequests(ctx context.Context) {
	if c.opt.SaveRequests == nil {
		return
	}
	c.Budgets() // with what the next checks cost
	if all, changed := c.opt.Queries.Budget().Saved(); changed {
		if err := c.opt.SaveRequests(ctx, all); err != nil && ctx.Err() == nil {
			c.log.Warn("keep how many requests were made", "error", err)
		}
	}
}
