package registryquery

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

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
	return taken, &PostponedError{
		Until: until, Reason: reason,
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
func (l *limiter) count(taken budget.Taken, name string, requests *sdk.Requests) {
	hosts, known := requests.ByHost()
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
