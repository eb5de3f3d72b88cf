package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestBudgetSpreadsChecks: a check that needs more than its budget asks about those whose
// last check is longest ago, says that the others wait, and no container is left out for ever.
func TestBudgetSpreadsChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		allowed := budget.Allowance{Requests: 4, Per: time.Hour}
		w := open(t, func(_ *fixture, o *options) {
			o.Queries.Budget = budget.NewBook(map[string]budget.Allowance{"docker.io": allowed}, time.Now)
		})
		defer w.store.Close()
		var all []sdk.Container
		for i := range 10 {
			name := fmt.Sprint("app", i)
			w.hub.tags["library/"+name] = []string{"1.0.0"}
			all = append(all, container(name, name+":1.0.0"))
		}
		w.engine.has(all...)
		fetched := map[string]int{}
		for round := range 10 {
			report, requests := w.run(), w.hub.requests()
			if report.Postponed != 6 || report.Failed != 0 || len(requests) != allowed.Requests {
				t.Fatalf("round %d made the requests %q, and its report is %+v", round, requests, report)
			}
			for _, r := range requests {
				fetched[r]++
			}
			got := w.Budgets()
			if len(got) != 1 || got[0].Host != "docker.io" || got[0].Used != 4 || got[0].Next != 10 ||
				got[0].Left() != 0 || !got[0].Spreads() {
				t.Errorf("the budgets are %+v", got)
			}
			if again := w.run(); again.Postponed != 10 || len(w.hub.requests()) > 0 {
				t.Errorf("a check without anything left has %+v", again)
			}
			time.Sleep(time.Until(got[0].FullUntil))
		}
		if len(fetched) != 10 {
			t.Errorf("fetched was only %v", fetched)
		}
		for request, n := range fetched { // 4 on average; requests at the same time may overtake each other
			if n < 2 {
				t.Errorf("%s: fetched %d times in 10 checks", request, n)
			}
		}
		waiting := slices.IndexFunc(all, func(c sdk.Container) bool { return w.get(c.ID).Check.Postponed() })
		if waiting < 0 {
			t.Fatal("no container waits")
		}
		contains(t, "the reason", w.get(all[waiting].ID).Check.PostponedReason,
			"docker.io has no request left of its budget, 4 requests in 1 h (check.budgets)")
		contains(t, "the log", w.log.String(), "a check is spread over several", "needs=10", "left=4",
			`allowed="4 requests in 1 h (check.budgets)"`)
	})
}

// TestFinderLeavesHalfOfTheBudget to checks.
func TestFinderLeavesHalfOfTheBudget(t *testing.T) {
	date(t, func(d *dating) {
		hub := d.offer("r.example", 12)
		d.look()
		const checked = 12
		n, use := len(hub.requests()), d.Checker.opt.Queries.Budget().Of("r.example")
		if n+checked != use.Used || n < 10 || n > 12 {
			t.Errorf("%d requests were made, and the use is %+v; want half of 44 left", n, use)
		}
	}, func(_ *fixture, o *options) {
		o.Queries.Budget = budget.NewBook(map[string]budget.Allowance{
			"r.example": {Requests: 44, Per: time.Hour},
		}, time.Now)
	})
}

// TestCostsAreTheRequests compares the estimate with the requests of a check without a budget.
func TestCostsAreTheRequests(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"], w.hub.digests["library/redis:latest"], w.hub.digests["library/redis:edge"] = []string{"1.0.0"}, digest("1"), digest("1")
	w.engine.has(container("a", "nginx:1.0.0"), container("b", "nginx:1.0.0"),
		container("c", "redis:latest", "dogwatch.watch.digest=true"),
		container("d", "redis:edge", "dogwatch.watch.digest=true"),
		container("e", "redis:latest", "dogwatch.watch.digest=true"),
		container("wrong", "nginx:1.0.0", "dogwatch.tag.include=("))
	w.run()
	fetched := w.hub.requests()
	got := w.Budgets()
	if len(got) != 1 || got[0].Next != len(fetched) || got[0].Used != len(fetched) || got[0].Spreads() {
		t.Errorf("the requests are %s, and the budget %+v", strings.Join(fetched, ", "), got)
	}
}
