package hostlimit

import (
	"context"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
)

// allowed says what leaves a host the fewest requests, and who says so.
func allowed(u budget.Use) string {
	if u.ByReport() {
		return fmt.Sprintf("%s, as it reports", u.Reported)
	}
	return fmt.Sprintf("%s (check.budgets)", u.Allowance)
}

// take takes what a question costs from what a host allows. When that is used up, the question is
// postponed until there is something again.
func (l *Limiter) take(host string, pull bool) (budget.Taken, error) {
	taken, until := l.opt.Budget.Take(host, pull)
	if until.IsZero() {
		return taken, nil
	}
	use := l.opt.Budget.Of(host)
	reason := fmt.Sprintf("%s has no request left of its budget, %s", host, allowed(use))
	if pull && use.Reported.Pulls && use.LeftAsReported() == 0 {
		reason = fmt.Sprintf("%s has no pull left, as it reports", host)
	}
	return taken, postponed(reason, until)
}

// readReport passes on what a host said of its limit, which its plugin knows without a request.
func (l *Limiter) readReport(ctx context.Context, name string) {
	if l.opt.Reports == nil {
		return
	}
	h, now := l.host(name), l.opt.Now()
	l.mu.Lock()
	again := now.Sub(h.reportRead) >= reportPause
	if again {
		h.reportRead = now
	}
	l.mu.Unlock()
	if !again {
		return
	}
	id, api, served := l.opt.APIOf(name)
	if !served {
		return
	}
	for _, r := range l.opt.Reports(ctx, id) {
		if strings.EqualFold(r.Host, api) {
			l.opt.Budget.Report(name, budget.Report{
				Allowance: budget.Allowance{Requests: int(r.Limit), Per: r.Window}, Remaining: int(r.Remaining),
				At: r.At.Time, ResetsAt: r.ResetsAt.Time, Pulls: r.Pulls,
			})
		}
	}
}

// count counts what a question cost, and returns how many requests were made, 0 when that is not known. What went to
// the host of the registry's API went to the host of images, whose names users know.
func (l *Limiter) count(taken budget.Taken, name string, requests *sdk.Requests) (made int) {
	hosts, known := requests.ByHost()
	for _, n := range hosts {
		made += n
	}
	if len(hosts) > 0 {
		if _, api, _ := l.opt.APIOf(name); api != "" && !strings.EqualFold(api, name) && hosts[api] > 0 {
			hosts[name] += hosts[api]
			delete(hosts, api)
		}
	}
	taken.Done(hosts, known)
	return made
}
