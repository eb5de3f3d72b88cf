package updater

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestDeliveryHasOneOperationPerContainer(t *testing.T) {
	f := fresh(t)
	request := Request{Container: f.containers["web"], Kind: operation.Update, Trigger: "docker.local", IdempotencyKey: "7"}
	ids := make(chan string, 8)
	var all sync.WaitGroup
	for range cap(ids) {
		all.Go(func() {
			op, err := f.Start(t.Context(), request)
			if err != nil {
				t.Error(err)
			}
			ids <- op.ID
		})
	}
	all.Wait()
	first := <-ids
	for range cap(ids) - 1 {
		if id := <-ids; id != first {
			t.Errorf("operations %s and %s of one delivery", first, id)
		}
	}
	f.run(t)
	f.outcome(t, first)
	if op, err := f.Start(t.Context(), request); err != nil || op.ID != first || op.State != operation.Succeeded {
		t.Errorf("once it has ended: %v, %+v", err, op)
	}
	other := request
	other.Container = f.containers["db"]
	if op, err := f.Start(t.Context(), other); err != nil || op.ID == first {
		t.Errorf("for another container: %v, %s", err, op.ID)
	}
	request.IdempotencyKey = "8"
	if op, err := f.Start(t.Context(), request); err != nil || op.ID == first {
		t.Errorf("of another delivery: %v, %s", err, op.ID)
	}
}

func TestOnlyWhatChangedTheContainerWasTried(t *testing.T) {
	reason := watcher.Reason{Code: "any", Text: "for some reason"}
	for _, test := range []struct {
		outcome watcher.OutcomeState
		tried   bool
	}{
		{watcher.Updated, false}, {watcher.Unchanged, false}, {watcher.RolledBack, true}, {watcher.Broken, true},
	} {
		t.Run(string(test.outcome), func(t *testing.T) {
			f := fresh(t)
			f.engine.apply = func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
				return watcher.Outcome{State: test.outcome, Reason: reason}, nil
			}
			f.run(t)
			f.outcome(t, f.begin(t, "web").ID)
			if trial, tried, err := f.Tried(t.Context(), update.KeyOf(new(container("web")))); tried != test.tried ||
				err != nil || trial.Undone != nil || trial.Ended.IsZero() == test.tried {
				t.Errorf("tried %v at %v, %v", tried, trial.Ended, err)
			}
			other := update.KeyOf(new(container("web")))
			other.FromTag = "0.9" // to which a user has rolled back meanwhile
			if _, tried, err := f.Tried(t.Context(), other); tried != test.tried || err != nil {
				t.Errorf("from another version: tried %v, %v", tried, err)
			}
			other.ToTag = "99.0"
			if _, tried, err := f.Tried(t.Context(), other); tried || err != nil {
				t.Errorf("to another version: tried %v, %v", tried, err)
			}
		})
	}
}

// TestInterruptedCountsAsTriedAtTheThirdTime: no image is to blame for the end of a process,
// unless each attempt leads to it.
func TestInterruptedCountsAsTriedAtTheThirdTime(t *testing.T) {
	f := fresh(t)
	f.engine.apply = func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
		return watcher.Outcome{
			State:  watcher.RolledBack,
			Reason: watcher.Reason{Code: watcher.ReasonInterrupted, Text: "the update was interrupted"},
		}, nil
	}
	f.run(t)
	for attempt := 1; attempt <= operation.MaxAttempts; attempt++ {
		if op := f.outcome(t, f.begin(t, "web").ID); op.State != operation.RolledBack || !op.MayRetry() {
			t.Fatalf("attempt %d: %+v", attempt, op)
		}
		if _, tried, err := f.Tried(t.Context(), update.KeyOf(new(container("web")))); err != nil ||
			tried != (attempt == operation.MaxAttempts) {
			t.Errorf("after attempt %d: tried %v, %v", attempt, tried, err)
		}
	}
}

// TestCancelIsKeptOverACrash: the process ends after the wish is stored, before the step ends.
func TestCancelIsKeptOverACrash(t *testing.T) {
	f := fresh(t)
	began, goOn := make(chan struct{}), make(chan struct{})
	f.engine.apply = func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
		close(began)
		<-goOn
		return watcher.Outcome{}, errors.New("the plugin was killed")
	}
	stop := f.run(t)
	op := f.begin(t, "web")
	<-began
	if err := f.Cancel(t.Context(), op.ID, "ben"); err != nil {
		t.Fatal(err)
	}
	go func() {
		for !f.isStopping() {
			f.Wake()
		}
		close(goOn)
	}()
	stop()
	f.engine.recover = takeAll
	next := &fixture{Runner: f.parts.runner(f.store, f.Runner.opt.Bus), parts: f.parts, store: f.store}
	next.run(t)
	if op := next.outcome(t, op.ID); op.State != operation.Cancelled || op.Cancel == nil || op.Cancel.By != "ben" {
		t.Errorf("%+v", op)
	}
}

// TestCancelLeavesWhatCannotBeRecovered: such an operation does not block its container for ever.
func TestCancelLeavesWhatCannotBeRecovered(t *testing.T) {
	t.Parallel()
	f := fresh(t)
	away := errors.New("the engine is away")
	f.engine.apply = func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
		return watcher.Outcome{}, away
	}
	failed := make(chan struct{}, 100)
	f.engine.recover = func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
		failed <- struct{}{}
		return watcher.Outcome{}, away
	}
	f.run(t)
	op := f.begin(t, "web")
	<-failed
	for { // until it is cancelled while it waits to recover
		if err := f.Cancel(t.Context(), op.ID, "ben"); errors.Is(err, ErrEnded) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	op = f.outcome(t, op.ID)
	if op.State != operation.Failed || op.Outcome.State != watcher.Broken || op.Outcome.Reason.Code != "left" {
		t.Errorf("%+v", op)
	}
	if want := "its outcome is not known, and ben wants it to be recovered no more: the container is left as it is; look at it. The last error: the engine is away"; op.Error != want {
		t.Error(op.Error)
	}
	f.engine.apply = nil
	if op = f.outcome(t, f.begin(t, "web").ID); op.State != operation.Succeeded {
		t.Errorf("the next one: %+v", op)
	}
}
