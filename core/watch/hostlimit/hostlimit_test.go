package hostlimit

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/internal/budget"
)

func noRegistry(string) (id, api string, served bool) { return "", "", false }

// TestCancelledRequestFreesItsSlots frees no slot that another request holds, and
// keeps none: neither of the host nor of those of all hosts.
func TestCancelledRequestFreesItsSlots(t *testing.T) {
	const cancelled = 3
	for name, c := range map[string]struct {
		limits Options
		holder string // the host whose request has the slot that the others wait for
	}{
		"of the host":  {Options{PerHost: 1, Total: 8}, "docker.io"},
		"of all hosts": {Options{PerHost: cancelled, Total: 1}, "ghcr.io"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opt := c.limits
				opt.Budget, opt.Now, opt.APIOf = budget.NewBook(nil, time.Now), time.Now, noRegistry
				limiter := New(opt)
				var wait sync.WaitGroup
				var mu sync.Mutex
				underWay, most, requests := 0, 0, 0
				count := func(by int) (total int) {
					mu.Lock()
					defer mu.Unlock()
					underWay += by
					requests += max(by, 0)
					most = max(most, underWay)
					return requests
				}
				request := func(ctx context.Context, host string, takes time.Duration) {
					wait.Go(func() {
						_ = limiter.Do(ctx, host, false, func(context.Context) error {
							count(1)
							time.Sleep(takes)
							count(-1)
							return nil
						})
					})
					synctest.Wait()
				}
				request(t.Context(), c.holder, time.Minute)
				ctx, cancel := context.WithCancel(t.Context())
				for range cancelled {
					request(ctx, "docker.io", time.Second)
				}
				cancel()
				synctest.Wait()
				request(t.Context(), "docker.io", time.Second)
				if n := count(0); n != 1 {
					t.Errorf("%d requests were made while the first held the only slot", n)
				}
				wait.Wait()
				began := time.Now()
				request(t.Context(), "docker.io", 0) // hangs for ever if a slot was lost
				if wait.Wait(); requests != 3 || most != 1 || time.Since(began) != 0 {
					t.Errorf("%d requests were made, %d at once, the last waited %s", requests, most, time.Since(began))
				}
			})
		})
	}
}
