package check

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
)

// Budgets returns the hosts to which requests were made, or which have an allowance, in the
// order of their names. Next goes by the last checks of all watchers in this process.
func (c *Checker) Budgets() []budget.Forecast {
	next := map[string]int{}
	c.mu.Lock()
	for _, st := range c.watchers {
		for host, n := range st.questions {
			next[strings.ToLower(host)] += n
		}
	}
	c.mu.Unlock()
	return c.opt.Budget.Plan(next)
}

// questionsOf returns how many questions it takes at most to check targets, by host: one for the
// tags of a repository, and one for each tag whose digest is watched.
func questionsOf(targets []*target) map[string]int {
	questions, seen := map[string]int{}, map[string]bool{}
	count := func(host, key string) {
		if !seen[key] {
			seen[key] = true
			questions[host]++
		}
	}
	for _, s := range targets {
		if len(s.labels.fatal) > 0 {
			continue
		}
		img := *s.image()
		repository := s.match.ID + " " + img.Registry.Host + "/" + img.Name
		if wantsTags(s) {
			count(img.Registry.Host, repository)
		}
		if wantsDigest(s) {
			count(img.Registry.Host, repository+":"+img.Tag.Value)
		}
	}
	return questions
}

// estimate remembers what a check of a whole watcher asks, and says where that is more than
// may be asked now: the rest is postponed, and goes first the next time.
func (p *pass) estimate(ctx context.Context) {
	questions := questionsOf(p.targets)
	for _, host := range slices.Sorted(maps.Keys(questions)) {
		p.fetch.limiter.readReport(ctx, host)
		use, needs := p.opt.Budget.Of(host), p.opt.Budget.Cost(host, questions[host])
		if left := use.Left(); use.Limited() && needs > left {
			p.log.Info("a check is spread over several, as what its host allows is used up before its end", "watcher",
				p.watcher.Name, "host", host, "needs", needs, "left", left, "allowed", allowed(use))
		}
	}
	if len(p.only) > 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state(p.watcher.Name).questions = questions
}

// allowed says what leaves a host the fewest requests, and who says so.
func allowed(u budget.Use) string {
	if u.ByReport() {
		return fmt.Sprintf("%s, as it reports", u.Reported)
	}
	return fmt.Sprintf("%s (check.budgets)", u.Allowance)
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

// take takes what a question costs from what a host allows. When that is used up, the question is
// postponed until there is something again.
func (l *limiter) take(host string, pull bool) (budget.Taken, error) {
	taken, until := l.budget.Take(host, pull)
	if until.IsZero() {
		return taken, nil
	}
	use := l.budget.Of(host)
	reason := fmt.Sprintf("%s has no request left of its budget, %s", host, allowed(use))
	if pull && use.Reported.Pulls && use.LeftAsReported() == 0 {
		reason = fmt.Sprintf("%s has no pull left, as it reports", host)
	}
	return taken, &postponedError{
		until: until, reason: reason,
		error: sdk.WithKind(sdk.ErrUnavailable,
			fmt.Errorf("%s: not asked again before %s", reason, until.UTC().Format("2006-01-02 15:04:05 MST"))),
	}
}

// reportPause is how long a report of a host is good enough while requests are made to it.
const reportPause = time.Second

// readReport passes on what a host said of its limit, which its plugin knows without a request.
func (l *limiter) readReport(ctx context.Context, name string) {
	h, now := l.host(name), l.now()
	l.mu.Lock()
	again := now.Sub(h.reportRead) >= reportPause
	if again {
		h.reportRead = now
	}
	l.mu.Unlock()
	match, served := l.registries.For(name)
	if l.reports == nil || !again || !served {
		return
	}
	api := apiHost(match)
	for _, r := range l.reports(ctx, match.ID) {
		if strings.EqualFold(r.Host, api) {
			l.budget.Report(name, budget.Report{
				Allowance: budget.Allowance{Requests: int(r.Limit), Per: r.Window}, Remaining: int(r.Remaining),
				At: r.At.Time, ResetsAt: r.ResetsAt.Time, Pulls: r.Pulls,
			})
		}
	}
}

// count counts what a question cost. What went to the host of the registry's API went to the
// host of images, whose names users know.
func (l *limiter) count(taken budget.Taken, name string, made *sdk.Requests) {
	hosts, known := made.ByHost()
	if match, served := l.registries.For(name); served {
		if api := apiHost(match); api != "" && !strings.EqualFold(api, name) && hosts[api] > 0 {
			hosts[name] += hosts[api]
			delete(hosts, api)
		}
	}
	taken.Done(hosts, known)
}

// apiHost is where the requests of a registry go; "" when that is not known.
func apiHost(m Match) string {
	if base, err := url.Parse(m.URL); err == nil {
		return base.Host
	}
	return ""
}
