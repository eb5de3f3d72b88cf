package updater

import (
	"context"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/operation"
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
		if len(all) != 1 || all[0] != (Progress{Operation: op.ID, Step: "pull the image", Message: "layer 3", Current: calls - 1, Total: 1 << 40}) {
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
