package updater

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// hang is a call that returns only when its context ends, as a plugin's does.
func hang(began chan<- struct{}) func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
	return func(ctx context.Context, _ watcher.Operation, _ watcher.Journal) (watcher.Outcome, error) {
		began <- struct{}{}
		<-ctx.Done()
		return watcher.Outcome{}, ctx.Err()
	}
}

// interrupted makes Apply return without an outcome.
func interrupted(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
	return watcher.Outcome{}, errors.New("the plugin is gone")
}

// TestHangingRecoverIsMadeAgain: what hangs once does not hold up an operation for ever.
func TestHangingRecoverIsMadeAgain(t *testing.T) {
	t.Parallel()
	f := freshWith(t, &parts{silence: 20 * time.Millisecond})
	calls := make(chan struct{}, 10)
	f.engine.apply = interrupted
	f.engine.recover = func(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
		if len(calls) == 0 {
			return hang(calls)(ctx, op, j)
		}
		return watcher.Outcome{
			State: watcher.RolledBack, Reason: watcher.Reason{Code: "interrupted", Text: "it was interrupted"},
		}, nil
	}
	f.run(t)
	if op := f.outcome(t, f.begin(t, "web").ID); op.State != operation.RolledBack {
		t.Errorf("%+v", op)
	}
}

// TestRecoverThatGoesOnIsNotInterrupted: what takes steps may take longer than the silence.
func TestRecoverThatGoesOnIsNotInterrupted(t *testing.T) {
	t.Parallel()
	f := freshWith(t, &parts{silence: 500 * time.Millisecond})
	f.engine.apply = interrupted
	f.engine.recover = func(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
		for end := time.Now().Add(time.Second); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			j.Progress(watcher.StepProgress{Message: "stopping"})
		}
		return watcher.Outcome{State: watcher.RolledBack, Reason: watcher.Reason{Code: "interrupted"}}, ctx.Err()
	}
	f.run(t)
	if op := f.outcome(t, f.begin(t, "web").ID); op.State != operation.RolledBack || len(f.engine.recovered) != 1 {
		t.Errorf("%+v, recovered %v", op, f.engine.recovered)
	}
}

// TestCancelEndsAHangingRecover: the operation says that its outcome is not known.
func TestCancelEndsAHangingRecover(t *testing.T) {
	t.Parallel()
	f := freshWith(t, &parts{leaveTime: time.Millisecond})
	calls := make(chan struct{}, 10)
	f.engine.apply, f.engine.recover = interrupted, hang(calls)
	f.run(t)
	op := f.begin(t, "web")
	<-calls
	if all := f.UnderWay(); len(all) != 1 || all[0].Step != recoverStep {
		t.Errorf("what is shown meanwhile: %+v", all)
	}
	if err := f.Cancel(t.Context(), op.ID, "ben"); err != nil {
		t.Fatal(err)
	}
	op = f.outcome(t, op.ID)
	if op.State != operation.Failed || op.Outcome.Reason.Code != "left" ||
		!strings.HasSuffix(op.Error,
			"ben wants it to be recovered no more: the container is left as it is; look at it. The last error: watcher local has said nothing about its recovery for too long") {
		t.Errorf("%+v", op)
	}
}

// TestShutdownEndsAHangingRecover: the next start recovers the operation.
func TestShutdownEndsAHangingRecover(t *testing.T) {
	t.Parallel()
	f := freshWith(t, &parts{})
	f.Runner.drainTime = time.Millisecond
	calls := make(chan struct{}, 10)
	f.engine.apply, f.engine.recover = interrupted, hang(calls)
	stop := f.run(t)
	op := f.begin(t, "web")
	<-calls
	stop()
	if left, err := f.store.Operation(t.Context(), op.ID); err != nil || left.State != operation.Running {
		t.Fatalf("%v, %+v", err, left)
	}
	f.engine.recover = nil
	next := &fixture{Runner: f.parts.runner(f.store, f.Runner.opt.Bus), parts: f.parts, store: f.store}
	next.run(t)
	if op := next.outcome(t, op.ID); op.State != operation.RolledBack {
		t.Errorf("%+v", op)
	}
}
