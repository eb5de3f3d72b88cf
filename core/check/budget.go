package check

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/budget"
	"github.com/dogwatch/dogwatch/sdk"
)

// Budgets returns the hosts to which requests were made, or which have an allowance, in the
// order of their names. Next goes by the last checks of all watchers in this process. A request
// is one question about a repository; a long list of tags may take several of HTTP.
func (c *Checker) Budgets() []budget.Forecast {
	next := map[string]int{}
	c.mu.Lock()
	for _, st := range c.watchers {
		for host, n := range st.costs {
			next[host] += n
		}
	}
	c.mu.Unlock()
	for _, host := range c.opt.Budget.Hosts() {
		next[host] += 0
	}
	var all []budget.Forecast
	for _, host := range slices.Sorted(maps.Keys(next)) {
		all = append(all, budget.Forecast{Use: c.opt.Budget.Of(host), Next: next[host]})
	}
	return all
}

// costsOf returns how many requests it takes at most to check targets, by host: one for the tags
// of a repository, and one for each tag whose digest is watched.
func costsOf(targets []*target) map[string]int {
	costs, seen := map[string]int{}, map[string]bool{}
	count := func(host, key string) {
		if !seen[key] {
			seen[key] = true
			costs[host]++
		}
	}
	for _, s := range targets {
		if len(s.policy.fatal) > 0 {
			continue
		}
		img := s.container.Image
		repository := s.match.ID + " " + img.Registry.Host + "/" + img.Name
		if wantsTags(s) {
			count(img.Registry.Host, repository)
		}
		if wantsDigest(s) {
			count(img.Registry.Host, repository+":"+img.Tag.Value)
		}
	}
	return costs
}

// estimate remembers what a check of a whole watcher costs, and says where that is more than
// may be asked now: the rest is postponed, and goes first the next time.
func (p *pass) estimate() {
	costs := costsOf(p.targets)
	for _, host := range slices.Sorted(maps.Keys(costs)) {
		use := p.opt.Budget.Of(host)
		if left := use.Left(); use.Allowance.Requests > 0 && costs[host] > left {
			p.log.Info("a check is spread over several, as its budget is used up before its end", "watcher", p.watcher.Name, "host", host, "needs", costs[host], "left", left, "budget", use.Allowance)
		}
	}
	if len(p.only) > 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state(p.watcher.Name).costs = costs
}

// oldestFirst has those repositories asked about first whose last check is longest ago,
// so that a budget which is too small for all of them leaves none out for ever.
func oldestFirst(groups []*group) {
	checked := func(g *group) time.Time {
		oldest := g.targets[0].container.Check.At.Time
		for _, s := range g.targets[1:] {
			if at := s.container.Check.At.Time; at.Before(oldest) {
				oldest = at
			}
		}
		return oldest
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return checked(a).Compare(checked(b)) })
}

// take takes a request from the budget of a host. When that is used up, the request is
// postponed until there is one again.
func (l *limiter) take(host string) error {
	until := l.budget.Take(host)
	if until.IsZero() {
		return nil
	}
	reason := fmt.Sprintf("%s has no request left of its budget, %s (check.budgets)", host, l.budget.Of(host).Allowance)
	return &postponedError{until: until, reason: reason, error: sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%s: not asked again before %s", reason, until.UTC().Format("2006-01-02 15:04:05 MST")))}
}
