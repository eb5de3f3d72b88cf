package automatic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestKillBeginsNoOperationTwice kills the process at random moments, 200 times, while
// users approve and operations end. Each approval and each version has one operation.
func TestKillBeginsNoOperationTwice(t *testing.T) {
	const seed = 11
	random := rand.New(rand.NewPCG(seed, seed))
	containers := append(inStack("shop", due("db"), due("app", "db"), due("web", "app")), due("alone"), due("other"))
	f := fresh(t, containers...)
	f.Runner.opt.AtOnce = 10
	version := 1
	for range 200 {
		f.restart()
		ctx, kill := context.WithCancel(t.Context())
		if random.IntN(3) == 0 {
			f.killed = func() error { kill(); return context.Canceled }
		} else {
			f.killed = nil
		}
		if random.IntN(3) == 0 {
			f.Runner.opt.Operations = &mortal{f.store, random.IntN(6), kill}
		}
		_, _ = f.pass(ctx)
		kill()
		switch random.IntN(4) {
		case 0:
			f.end(t, operation.Succeeded, &watcher.Outcome{State: watcher.Updated})
		case 1:
			f.end(t, operation.RolledBack, &watcher.Outcome{State: watcher.RolledBack})
		case 2:
			approve(f, containers[random.IntN(len(containers))])
		case 3:
			version++
			f.now = f.now.Add(time.Minute)
			c := containers[random.IntN(len(containers))]
			c.UpdateKind.RemoteValue = fmt.Sprintf("1.%d.0", version)
			c.Result = &sdk.Result{Tag: c.UpdateKind.RemoteValue}
			c.Decision = &sdk.Decision{
				State: sdk.StateAutomatic, OfferedAt: sdk.TimeOf(f.now), Reasons: []sdk.Reason{{Code: policy.ReasonAutomatic}},
			}
		}
	}
	all, err := f.store.Operations(t.Context(), operation.Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, op := range all {
		if seen[op.IdempotencyKey] {
			t.Errorf("two operations for %s", op.IdempotencyKey)
		}
		seen[op.IdempotencyKey] = true
	}
	if len(all) < 30 {
		t.Errorf("only %d operations began (seed %d)", len(all), seed)
	}
}

// mortal lets some reads pass, and kills the process at the next one.
type mortal struct {
	store Operations
	reads int
	kill  context.CancelFunc
}

func (m *mortal) Operations(ctx context.Context, f operation.Filter) ([]operation.Operation, error) {
	if m.reads--; m.reads < 0 {
		m.kill()
		return nil, context.Canceled
	}
	return m.store.Operations(ctx, f)
}
