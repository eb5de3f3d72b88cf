package updater

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

var errKilled = errors.New("the process was killed")

// mortal is a store of a process that is killed at one of its writes: before it
// happens, or right after. Nothing can be written after that.
type mortal struct {
	Store
	at    int
	after bool

	mu     sync.Mutex
	writes int
	killed chan struct{} // closed then
}

func (m *mortal) write(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if m.writes < m.at || m.at == 0 {
		return do()
	}
	if m.writes == m.at {
		if m.after {
			if err := do(); err != nil {
				return err
			}
		}
		close(m.killed)
	}
	return errKilled
}

func (m *mortal) AddOperation(ctx context.Context, op operation.Operation, ev ...event.Event) error {
	return m.write(func() error { return m.Store.AddOperation(ctx, op, ev...) })
}
func (m *mortal) ChangeOperation(
	ctx context.Context, from operation.State, op operation.Operation, ev ...event.Event,
) error {
	return m.write(func() error { return m.Store.ChangeOperation(ctx, from, op, ev...) })
}
func (m *mortal) PutStep(ctx context.Context, id string, n int, s operation.Step, ev ...event.Event) error {
	return m.write(func() error { return m.Store.PutStep(ctx, id, n, s, ev...) })
}

// machine is what an engine has: the steps that were taken there. It survives its callers.
type machine struct {
	mu      sync.Mutex
	taken   []string
	applied map[string]int // by operation
}

func (w *machine) apply(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
	w.mu.Lock()
	w.applied[op.ID]++
	w.mu.Unlock()
	for _, s := range op.Plan.Steps {
		if err := j.Begin(ctx, s); err != nil {
			return watcher.Outcome{}, err
		}
		w.mu.Lock()
		w.taken = append(w.taken, s.ID)
		w.mu.Unlock()
		if err := j.End(ctx, s, nil, nil); err != nil {
			return watcher.Outcome{}, err
		}
	}
	return watcher.Outcome{State: watcher.Updated}, nil
}

// recover returns to the old container unless everything was done.
func (w *machine) recover(_ context.Context, op watcher.Operation, _ watcher.Journal) (watcher.Outcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range w.taken {
		if !slices.ContainsFunc(op.Steps, func(s watcher.StepRecord) bool { return s.ID == id }) {
			return watcher.Outcome{}, fmt.Errorf("step %s was taken and is not stored", id)
		}
	}
	if len(w.taken) == len(op.Plan.Steps) {
		return watcher.Outcome{State: watcher.Updated}, nil
	}
	w.taken = nil
	return watcher.Outcome{
		State: watcher.RolledBack, Reason: watcher.Reason{Code: "interrupted", Text: "it was interrupted"},
	}, nil
}

// TestKillAtEveryWrite kills the process before and after each of its writes to the
// store. The next process begins no second operation for the delivery, takes no step
// twice, and says what is true of the container.
func TestKillAtEveryWrite(t *testing.T) {
	for at := 1; ; at++ {
		survived := false
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, after it %t", at, after), func(t *testing.T) { survived = killedAt(t, at, after) })
		}
		if survived {
			if at < 9 { // queued, started, two for each of three steps, ended
				t.Errorf("an operation has only %d writes", at-1)
			}
			return
		}
	}
}

func killedAt(t *testing.T, at int, after bool) (survived bool) {
	f := fresh(t)
	w := &machine{applied: map[string]int{}}
	f.engine.apply, f.engine.recover = w.apply, w.recover
	request := Request{Container: f.containers["web"], Kind: operation.Update, Trigger: "docker.local", IdempotencyKey: "7"}

	dying := &mortal{Store: f.store, at: at, after: after, killed: make(chan struct{})}
	first := f.parts.runner(f.store, f.Runner.opt.Bus)
	first.opt.Store = dying
	ctx, kill := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		if err := first.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	ended := make(chan struct{})
	if op, err := first.Start(t.Context(), request); err == nil {
		work.Go(func() {
			if _, err := first.Wait(ctx, op.ID); err == nil {
				close(ended)
			}
		})
	}
	select {
	case <-dying.killed:
	case <-ended:
		dying.mu.Lock()
		survived = dying.writes < at
		dying.mu.Unlock()
	}
	kill()
	work.Wait()

	next := &fixture{Runner: f.parts.runner(f.store, f.Runner.opt.Bus), parts: f.parts, store: f.store}
	next.run(t)
	op, err := next.Start(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	op = next.outcome(t, op.ID)
	all, err := f.store.Operations(t.Context(), operation.Filter{})
	if err != nil || len(all) != 1 || w.applied[op.ID] > 1 || len(w.applied) > 1 {
		t.Errorf("%v, %d operations, applied %v", err, len(all), w.applied)
	}
	switch updated := len(w.taken) == len(steps); {
	case updated != (op.State == operation.Succeeded), !updated && (len(w.taken) > 0 || op.State != operation.RolledBack):
		t.Errorf("%s after the steps %v", op.State, w.taken)
	}
	events, err := f.store.Events(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	ends := 0
	for _, e := range events {
		if e.Type == event.OperationSucceeded || e.Type == event.OperationRolledBack || e.Type == event.OperationFailed {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("%d events about its end", ends)
	}
	return survived
}

// TestRelated: operations that concern the same container, project or dependent wait for each other.
func TestRelated(t *testing.T) {
	op := func(id, watcherName, name, project string, dependents ...string) operation.Operation {
		o := operation.Operation{ID: id, Watcher: watcherName, Name: name, Project: project}
		for _, d := range dependents {
			o.Plan.Dependents = append(o.Plan.Dependents, watcher.Dependent{Name: d})
		}
		return o
	}
	vpn := op("1", "local", "vpn", "media", "torrent", "search")
	for _, test := range []struct {
		other operation.Operation
		want  bool
	}{
		{op("1", "nas", "x", ""), true},
		{op("2", "local", "vpn", ""), true},
		{op("2", "nas", "vpn", "media"), false},
		{op("2", "local", "web", "media"), true},
		{op("2", "local", "web", ""), false},
		{op("2", "local", "web", "home"), false},
		{op("2", "local", "torrent", ""), true},
		{op("2", "local", "web", "", "vpn"), true},
		{op("2", "local", "web", "", "search"), true},
		{op("2", "local", "web", "", "db"), false},
	} {
		if related(vpn, test.other) != test.want || related(test.other, vpn) != test.want {
			t.Errorf("%+v: want %t", test.other, test.want)
		}
	}
}
