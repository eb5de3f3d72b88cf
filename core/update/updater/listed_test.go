package updater

import (
	"context"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestContainersAreListedAtTheEnd: an update's new container is known before its end is,
// and what came back is listed after its end is stored, since it is offered again.
func TestContainersAreListedAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		outcome watcher.Outcome
		id      string // the container that is checked; "" for none
		state   operation.State
	}{
		"updated":     {watcher.Outcome{State: watcher.Updated, ContainerID: "new"}, "new", operation.Running},
		"rolled back": {watcher.Outcome{State: watcher.RolledBack, ContainerID: "id-web"}, "id-web", operation.RolledBack},
		"broken":      {watcher.Outcome{State: watcher.Broken}, "id-web", operation.Failed},
		"unchanged":   {watcher.Outcome{State: watcher.Unchanged}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := freshWith(t, &parts{})
			type call struct {
				watcher, id string
				state       operation.State
			}
			calls := make(chan call, 10)
			f.parts.listed = func(ctx context.Context, watcher, id string) error {
				all, err := f.store.Operations(ctx, operation.Filter{})
				if err != nil {
					return err
				}
				calls <- call{watcher, id, all[0].State}
				return nil
			}
			f.engine.apply = func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
				return c.outcome, nil
			}
			stop := f.run(t)
			f.outcome(t, f.begin(t, "web").ID)
			if c.id != "" {
				select {
				case got := <-calls:
					if want := (call{"local", c.id, c.state}); got != want {
						t.Errorf("listed %+v, want %+v", got, want)
					}
				case <-time.After(20 * time.Second):
					t.Error("nothing is listed")
				}
			}
			stop()
			if len(calls) != 0 {
				t.Errorf("listed again: %+v", <-calls)
			}
		})
	}
}

// TestEndDoesNotWaitForAnEngine: the containers of one that hangs are listed later.
func TestEndDoesNotWaitForAnEngine(t *testing.T) {
	t.Parallel()
	f := freshWith(t, &parts{})
	f.parts.listed = func(ctx context.Context, _, _ string) error { <-ctx.Done(); return ctx.Err() }
	f.run(t)
	if op := f.outcome(t, f.begin(t, "web").ID); op.State != operation.Succeeded {
		t.Errorf("%+v", op)
	}
}
