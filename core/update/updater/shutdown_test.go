package updater

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestUnknownOutcomeIsRecovered(t *testing.T) {
	t.Parallel()
	f := fresh(t)
	f.engine.apply = func(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
		return watcher.Outcome{}, errors.Join(errors.New("the plugin is gone"), j.Begin(ctx, steps[1]))
	}
	f.run(t)
	op := f.outcome(t, f.begin(t, "web").ID)
	if op.State != operation.RolledBack || len(op.Steps) != 1 || len(f.engine.recovered) != 1 || op.Error == "" {
		t.Errorf("%+v", op)
	}
	if _, tried, err := f.Tried(t.Context(), update.KeyOf(new(container("web")))); tried || err != nil {
		t.Errorf("tried %v, %v, though it was interrupted", tried, err)
	}
}

// TestShutdownLeavesTheOperationToTheNextStart stops between two steps while no container is down.
func TestShutdownLeavesTheOperationToTheNextStart(t *testing.T) {
	f := fresh(t)
	began, goOn := make(chan struct{}), make(chan struct{})
	f.engine.apply = func(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
		if err := j.Begin(ctx, steps[0]); err != nil {
			return watcher.Outcome{}, err
		}
		close(began)
		<-goOn
		if err := j.End(ctx, steps[0], nil, nil); err != nil {
			return watcher.Outcome{}, err
		}
		return watcher.Outcome{}, j.Begin(ctx, steps[1])
	}
	stop := f.run(t)
	op := f.begin(t, "web")
	<-began
	go func() {
		for !f.isStopping() {
			time.Sleep(time.Millisecond)
		}
		close(goOn)
	}()
	stop()
	left, err := f.store.Operation(t.Context(), op.ID)
	if err != nil || left.State != operation.Running || len(left.Steps) != 1 || !left.Steps[0].Ended {
		t.Fatalf("%v, %+v", err, left)
	}
	next := &fixture{Runner: f.parts.runner(f.store, f.Runner.opt.Bus), parts: f.parts, store: f.store}
	next.run(t)
	if op := next.outcome(t, op.ID); op.State != operation.RolledBack || len(f.engine.recovered) != 1 ||
		len(f.engine.applied) != 1 {
		t.Errorf("%+v, applied %v, recovered %v", op, f.engine.applied, f.engine.recovered)
	}
}

// TestShutdownWaitsWhileAContainerIsDown: nothing stays stopped since Dogwatch stops.
func TestShutdownWaitsWhileAContainerIsDown(t *testing.T) {
	f := fresh(t)
	began, goOn := make(chan struct{}), make(chan struct{})
	f.engine.apply = func(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
		if err := j.Begin(ctx, steps[1]); err != nil {
			return watcher.Outcome{}, err
		}
		close(began)
		<-goOn
		if err := j.End(ctx, steps[1], nil, nil); err != nil {
			return watcher.Outcome{}, err
		}
		return takeAll(ctx, watcher.Operation{Plan: watcher.Plan{Steps: steps[2:]}}, j)
	}
	stop := f.run(t)
	op := f.begin(t, "web")
	<-began
	go func() {
		for !f.isStopping() {
			time.Sleep(time.Millisecond)
		}
		close(goOn)
	}()
	stop()
	if left, err := f.store.Operation(t.Context(), op.ID); err != nil || left.State != operation.Succeeded {
		t.Errorf("%v, %+v", err, left)
	}
}
