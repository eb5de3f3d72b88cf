package check

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// TestReportedLimitSpreadsChecks: what a host says that it allows is kept to, although no limit is set:
// no request is refused, the rest waits, and it is said beforehand.
func TestReportedLimitSpreadsChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const allowed, repositories = 4, 10
		began := time.Now()
		w := open(t, func(_ *fixture, o *options) {
			o.Queries.Limits.PerHost = 1
			o.Queries.Reports = func(_ context.Context, id string) []registry.Limit {
				if id != "hub.public" {
					return nil
				}
				return []registry.Limit{
					{Host: "elsewhere.example", Limit: 1, At: sdk.TimeOf(time.Now())},
					{
						Host: "Registry-1.docker.io", Limit: allowed, Remaining: allowed, Window: 10 * time.Minute, At: sdk.TimeOf(began),
					},
				}
			}
		})
		defer w.store.Close()
		for i := range repositories {
			w.hub.tags[fmt.Sprint("library/app", i)] = []string{"1.0.0"}
		}
		var all []sdk.Container
		for i := range repositories {
			all = append(all, container(fmt.Sprint("app", i), fmt.Sprintf("app%d:1.0.0", i)))
		}
		w.engine.has(all...)
		fetched := map[string]bool{}
		for range 3 {
			report, requests := w.run(), w.hub.requests()
			if len(requests) > allowed || report.Failed != 0 || report.Postponed != repositories-len(requests) {
				t.Fatalf("%d requests were made, and the report is %+v", len(requests), report)
			}
			for _, r := range requests {
				fetched[r] = true
			}
			got := w.Budgets()
			if len(got) != 1 || !got[0].Spreads() || got[0].Left() != 0 || got[0].Next != repositories ||
				!got[0].FullUntil.Equal(began.Add(10*time.Minute)) {
				t.Errorf("the budgets are %+v", got)
			}
			time.Sleep(time.Until(got[0].FullUntil))
			began = time.Now()
		}
		if len(fetched) != repositories {
			t.Errorf("fetched was only %v", fetched)
		}
		contains(t, "the log", w.log.String(), "a check is spread over several", "needs=10", "left=4",
			`allowed="4 requests in 10 min, as it reports"`)
	})
}

// TestRequestsCountAfterRestart: what one process has used of a budget, another one has not.
func TestRequestsCountAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		allowed := map[string]budget.Allowance{"docker.io": {Requests: 4, Per: 6 * time.Hour}}
		var kept []budget.Saved
		process := func(w *fixture, o *options) {
			o.Queries.Budget = budget.NewBook(allowed, time.Now)
			o.Queries.Budget.Load(kept)
			o.SaveRequests = func(_ context.Context, all []budget.Saved) error { kept = all; return nil }
			w.hub.before = func(ctx context.Context, _ string) error {
				sdk.Requested(ctx, "registry-1.docker.io", 2)
				sdk.Requested(ctx, "auth.docker.io", 1)
				return nil
			}
			w.hub.tags["library/app"] = []string{"1.0.0"}
			w.engine.has(container("app", "app:1.0.0"))
		}
		first := open(t, process)
		defer first.store.Close()
		first.run()
		second := open(t, process)
		defer second.store.Close()
		if got := second.Budgets(); len(got) != 2 || got[0].Host != "auth.docker.io" || got[0].For != "docker.io" ||
			got[0].Used != 1 || got[1].Used != 2 || got[1].Estimated {
			t.Errorf("after a restart the budgets are %+v", got)
		}
		if report := second.run(); report.Postponed != 0 {
			t.Errorf("with half of its budget, the report is %+v", report)
		}
		third := open(t, process)
		defer third.store.Close()
		if report := third.run(); report.Postponed != 1 || len(third.hub.requests()) != 0 {
			t.Errorf("without any of its budget, the report is %+v", report)
		}
	})
}
