package updater

import (
	"context"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestProgressIsLimited: however often a step says how far it is, it is passed on four times a second.
func TestProgressIsLimited(t *testing.T) {
	f := fresh(t)
	const lasts = 600 * time.Millisecond
	f.engine.apply = func(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
		if err := j.Begin(ctx, steps[0]); err != nil {
			return watcher.Outcome{}, err
		}
		_, seen := f.Runner.opt.Bus.Touched(0)
		touches, calls := 0, int64(0)
		for began := time.Now(); time.Since(began) < lasts; calls++ {
			j.Progress(watcher.StepProgress{Message: "layer 3", Current: calls, Total: 1 << 40})
			var types []event.Type
			if types, seen = f.Runner.opt.Bus.Touched(seen); len(types) > 0 {
				touches++
			}
		}
		if touches < 2 || touches > 3 { // at 0, 250 and 500 ms
			t.Errorf("%d touches for %d calls", touches, calls)
		}
		all := f.UnderWay()
		if len(all) != 1 || all[0] != (Progress{
			Operation: op.ID, Step: "pull the image", Message: "layer 3", Current: calls - 1, Total: 1 << 40,
		}) {
			t.Errorf("%+v", all)
		}
		return watcher.Outcome{State: watcher.Updated}, j.End(ctx, steps[0], nil, nil)
	}
	f.run(t)
	if op := f.outcome(t, f.begin(t, "web").ID); op.State != operation.Succeeded {
		t.Errorf("%+v", op)
	}
	for len(f.UnderWay()) > 0 {
		time.Sleep(time.Millisecond)
	}
}

func TestPercentOfAnOperation(t *testing.T) {
	half := watcher.StepProgress{Current: 50, Total: 100}
	for name, c := range map[string]struct {
		active active
		want   int
	}{
		"begun":          {active{steps: 4}, 0},
		"in a step":      {active{steps: 4, progress: half}, 12},
		"one taken":      {active{steps: 4, taken: 1, progress: half}, 37},
		"all taken":      {active{steps: 4, taken: 4}, 100},
		"more than all":  {active{steps: 4, taken: 9}, 100},
		"over the total": {active{steps: 4, progress: watcher.StepProgress{Current: 200, Total: 100}}, 25},
		"returning":      {active{steps: 4, taken: -1, progress: half}, -1},
		"no steps":       {active{}, -1},
	} {
		if got := c.active.percent(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	a := active{steps: 2}
	a.took(nil)
	if a.percent() != 50 {
		t.Errorf("%d after one step", a.percent())
	}
	a.took(context.Canceled)
	a.took(nil)
	if a.percent() != -1 {
		t.Errorf("%d after a step that failed", a.percent())
	}
}

// TestStatesAreThoseUnderWay: triggers see an operation from its begin until its end, which is notified of.
func TestStatesAreThoseUnderWay(t *testing.T) {
	f := fresh(t)
	sub := f.Runner.opt.Bus.SubscribeAll()
	defer sub.Close()
	f.engine.apply = func(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
		all := f.States()
		if want := (trigger.OperationState{Watcher: "local", Name: "web", Running: true}); len(all) != 1 || all[0] != want {
			t.Errorf("%+v, want %+v", all, want)
		}
		return takeAll(ctx, op, j)
	}
	f.run(t)
	f.begin(t, "web")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for ended := false; !ended; {
		if err := sub.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		all, err := f.store.Operations(ctx, operation.Filter{States: []operation.State{operation.Succeeded}})
		if err != nil {
			t.Fatal(err)
		}
		ended = len(all) == 1 && len(f.States()) == 0
	}
}
