package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// hands are Updates whose operations take a minute and then end as a test says.
type hands struct {
	mu        sync.Mutex
	requested []Update
	ops       []operation.Operation
	at        []time.Time
	// refuse is why the update number n, from 0, is not begun; ends is how its operation ends.
	refuse func(n int) error
	ends   func(operation.Operation) operation.Operation
	tried  string
}

func (h *hands) Begin(_ context.Context, u Update) (operation.Operation, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requested = append(h.requested, u)
	if h.refuse != nil {
		if err := h.refuse(len(h.requested) - 1); err != nil {
			return operation.Operation{}, err
		}
	}
	op := operation.Operation{
		ID: fmt.Sprint("op", len(h.ops)), Watcher: u.Container.Watcher, Name: u.Container.Name,
		State: operation.Running, IdempotencyKey: u.Delivery,
	}
	h.ops, h.at = append(h.ops, op), append(h.at, time.Now())
	return op, nil
}

func (h *hands) Started(_ context.Context, c sdk.Container, key string) (all []operation.Operation, _ error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, op := range slices.Backward(h.ops) {
		if op.Name == c.Name && strings.HasPrefix(op.IdempotencyKey, key) {
			all = append(all, h.now(op))
		}
	}
	return all, nil
}

// now returns an operation as it is now.
func (h *hands) now(op operation.Operation) operation.Operation {
	i := slices.IndexFunc(h.ops, func(o operation.Operation) bool { return o.ID == op.ID })
	if time.Since(h.at[i]) < time.Minute {
		return op
	}
	op.State = operation.Succeeded
	if h.ends != nil {
		op = h.ends(op)
	}
	return op
}

func (h *hands) Wait(ctx context.Context, id string) (operation.Operation, error) {
	for {
		h.mu.Lock()
		i := slices.IndexFunc(h.ops, func(o operation.Operation) bool { return o.ID == id })
		op := h.now(h.ops[i])
		h.mu.Unlock()
		if op.State.Ended() {
			return op, nil
		}
		select {
		case <-ctx.Done():
			return op, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func (h *hands) Tried(context.Context, sdk.Container) (string, error) { return h.tried, nil }

func (h *hands) names() (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, u := range h.requested {
		all = append(all, u.Container.Name)
	}
	return all
}

// updating returns a bench with a trigger that requests the update of each container.
func updating(t *testing.T, h *hands, change ...func(*Trigger)) (*bench, *sink) {
	t.Helper()
	docker, calls := simple(t, "docker.local",
		append([]func(*Trigger){action, func(t *Trigger) { t.Operates = true }}, change...)...)
	calls.reply = operateAll
	b := &bench{t: t, path: t.TempDir() + "/store.db", triggers: []Trigger{docker}, updates: h}
	b.start(nil)
	return b, calls
}

func operateAll(ctx context.Context, _ int, req trigger.Request) error {
	for _, c := range req.Containers {
		if err := req.Operate(ctx, trigger.OperationRequest{
			ContainerID: c.ID, Rules: watcher.UpdateRules{Keep: 2},
		}); err != nil {
			return err
		}
	}
	return nil
}

func ending(
	state operation.State, outcome *watcher.Outcome, text string,
) func(operation.Operation) operation.Operation {
	return func(op operation.Operation) operation.Operation {
		op.State, op.Outcome, op.Error = state, outcome, text
		return op
	}
}

// TestDeliveryEndsAsItsUpdate: a delivery is sent when the container is updated, tried
// again while nothing was changed, and given up with the reason otherwise.
func TestDeliveryEndsAsItsUpdate(t *testing.T) {
	blocked := errors.New("local/web: the update is blocked: it keeps data inside itself (data.writable-layer)")
	for name, c := range map[string]struct {
		hands  *hands
		state  string
		text   string // in the error
		begins int
	}{
		"updated": {hands: &hands{}, state: delivery.Sent, begins: 1},
		"rolled back": {hands: &hands{
			ends: ending(operation.RolledBack, &watcher.Outcome{
				State: watcher.RolledBack, Reason: watcher.Reason{Code: "health"},
			}, "it is unhealthy"),
		},
			state: delivery.Failed,
			text:  "local/web was not updated, and its old container is back: it is unhealthy (health); see operation op0", begins: 1},
		"broken": {
			hands: &hands{ends: ending(operation.Failed, &watcher.Outcome{State: watcher.Broken}, "look at it")},
			state: delivery.Failed, text: "look at it", begins: 1,
		},
		"cancelled": {
			hands: &hands{ends: ending(operation.Cancelled, nil, "it was cancelled")}, state: delivery.Failed,
			text: "cancelled", begins: 1,
		},
		"blocked": {
			hands: &hands{refuse: func(int) error { return blocked }}, state: delivery.Failed,
			text: "data.writable-layer", begins: 1,
		},
		"engine away, then back": {hands: &hands{refuse: func(n int) error {
			if n < 2 {
				return errDown
			}
			return nil
		}}, state: delivery.Sent, begins: 3},
		"image not pulled": {hands: &hands{
			ends: ending(operation.Failed, &watcher.Outcome{
				State: watcher.Unchanged, Reason: watcher.Reason{Code: "pull"},
			}, "no space left"),
		},
			state: delivery.Failed, text: "no space left", begins: operation.MaxAttempts},
		"interrupted": {hands: &hands{
			ends: ending(operation.RolledBack, &watcher.Outcome{
				State: watcher.RolledBack, Reason: watcher.Reason{Code: watcher.ReasonInterrupted},
			}, "the update was interrupted"),
		},
			state: delivery.Failed, text: "interrupted", begins: operation.MaxAttempts},
		"for users only": {
			hands: &hands{
				refuse: func(int) error { return sdk.WithKind(ErrByHand, errors.New("a label lets only users update it")) },
			}, state: delivery.Skipped, text: "only users", begins: 1,
		},
		"tried before": {hands: &hands{tried: "it was rolled back on Monday"}, state: delivery.Skipped, text: "on Monday"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b, _ := updating(t, c.hands)
				b.checked([]sdk.Container{minor("web")})
				settle(24 * time.Hour)
				if got := b.deliveries("docker.local"); len(got) != 1 || got[0].State != c.state ||
					!strings.Contains(got[0].Error, c.text) {
					t.Errorf("deliveries %+v", got)
				}
				if got := len(c.hands.requested); got != c.begins {
					t.Errorf("requested for %d times, want %d", got, c.begins)
				}
				seen := map[string]bool{}
				for _, u := range c.hands.requested {
					if u.Trigger != "docker.local" || u.Rules.Keep != 2 || u.Actor != "" {
						t.Errorf("requested for %+v", u)
					}
					seen[u.Delivery] = true
				}
				if len(c.hands.ops) > 1 && len(seen) != len(c.hands.ops) {
					t.Errorf("two operations of one delivery: %v", seen)
				}
				b.stop()
			})
		})
	}
}

// TestBatchOfUpdates: one container of a batch that cannot be updated keeps no other from it.
func TestBatchOfUpdates(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := &hands{refuse: func(n int) error {
			if n == 0 {
				return errors.New("local/web is blocked")
			}
			return nil
		}}
		b, calls := updating(t, h, batch)
		b.checked([]sdk.Container{minor("web"), minor("db")})
		settle(time.Hour)
		equal(t, "calls", calls.names(), []string{"web db"})
		equal(t, "updates", h.names(), []string{"web", "db"})
		if got := b.deliveries("docker.local"); len(got) != 1 || got[0].State != delivery.Failed ||
			got[0].Error != "local/web is blocked" {
			t.Errorf("deliveries %+v", got)
		}
		b.stop()
	})
}

// TestUpdatesHoldNoOtherDelivery: while one update is under way, the trigger runs for others.
func TestUpdatesHoldNoOtherDelivery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := &hands{}
		b, _ := updating(t, h)
		b.checked([]sdk.Container{minor("web"), minor("db")})
		settle(2 * time.Second)
		equal(t, "updates", h.names(), []string{"web", "db"})
		equal(t, "under way", b.states("docker.local"), []string{"local/web sending", "local/db sending"})
		settle(2 * time.Minute)
		equal(t, "at the end", b.states("docker.local"), []string{"local/web sent", "local/db sent"})
		b.stop()
	})
}

// TestUpdateIsFoundAgain: a delivery that a shutdown or a crash interrupts during its
// update gets the result of it, and begins no second one.
func TestUpdateIsFoundAgain(t *testing.T) {
	for _, crash := range []bool{false, true} {
		for _, away := range []time.Duration{time.Second, time.Hour} { // it is under way still, or has ended
			for _, manual := range []bool{false, true} {
				t.Run(fmt.Sprintf("crash %v, away %s, manual %v", crash, away, manual), func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						h := &hands{}
						b, calls := updating(t, h, func(t *Trigger) { t.Auto = !manual })
						b.stop()
						var process *killable
						b.start(func(s Store) Store { process = killedAfter(1<<30, s); process.lossy = true; return process })
						b.checked([]sdk.Container{minor("web")})
						if manual {
							go func() {
								_ = b.RunNow(context.Background(), "docker.local", []sdk.Container{minor("web")}, ManualRun{Actor: "ana"})
							}()
						}
						settle(5 * time.Second)
						if crash {
							process.kill()
						}
						began := time.Now()
						b.stop()
						if took := time.Since(began); took > time.Second && !crash {
							t.Errorf("the shutdown took %s", took)
						}
						time.Sleep(away)
						b.start(nil)
						if away == time.Hour {
							b.commit([]sdk.Container{{ID: "new", Name: "web", Watcher: "local"}}) // it was updated
						}
						settle(time.Hour)
						equal(t, "states", b.states("docker.local"), []string{"local/web sent"})
						equal(t, "updates", h.names(), []string{"web"})
						if len(calls.got) != 1 {
							t.Errorf("%d calls", len(calls.got))
						}
						b.stop()
					})
				})
			}
		}
	}
}

// TestRunNowUpdates: a user gets the result of an update, also of one that did not work out before.
func TestRunNowUpdates(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := &hands{tried: "it was rolled back"}
		b, _ := updating(t, h, func(t *Trigger) { t.Auto = false })
		b.checked([]sdk.Container{minor("web")})
		began := time.Now()
		if err := b.RunNow(t.Context(), "docker.local", []sdk.Container{minor("web")}, ManualRun{
			Actor: "ana", Test: true,
		}); err != nil || time.Since(began) < time.Minute {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if len(h.requested) != 1 || h.requested[0].Actor != "ana" {
			t.Errorf("requested for %+v", h.requested)
		}
		h.ends = ending(operation.RolledBack, nil, "it is unhealthy")
		if err := b.RunNow(t.Context(), "docker.local", []sdk.Container{minor("web")}, ManualRun{}); err == nil ||
			!strings.Contains(err.Error(), "it is unhealthy") {
			t.Errorf("rolled back: %v", err)
		}
		var invalid *sdk.InvalidError
		if err := b.RunNow(t.Context(), "docker.local", []sdk.Container{{ID: "123456789", Name: "made-up"}}, ManualRun{
			Test: true,
		}); !errors.As(err, &invalid) {
			t.Errorf("made up: %v", err)
		}
		equal(t, "states", b.states("docker.local"), []string{"local/web sent", "local/web failed"})
		b.stop()
	})
}

// TestOperateWithoutTheCapability: a trigger that may not have containers updated gets an error.
func TestOperateWithoutTheCapability(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := &hands{}
		b, _ := updating(t, h, func(t *Trigger) { t.Operates = false })
		b.checked([]sdk.Container{minor("web")})
		settle(time.Hour)
		if got := b.deliveries("docker.local"); len(h.requested) > 0 || len(got) != 1 ||
			got[0].State != delivery.Failed || cmp.Or(got[0].Error, "-") == "-" {
			t.Errorf("deliveries %+v", got)
		}
		b.stop()
	})
}
