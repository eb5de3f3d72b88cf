package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// maxOperations is how many operations are under way at most: a controller begins a few at a time.
	maxOperations = 64
	// drainTime is how long operations may go on that have a container stopped, when the agent stops.
	drainTime = 20 * time.Second
	// progressPause is the least time between two tidings of how far a step is.
	progressPause = 500 * time.Millisecond
)

// Operations carries out operations on an agent's host. Each is in a file before it begins, and goes on, to its end or
// back, whatever becomes of the link; Open recovers what a killed agent left. How an operation has ended is kept for a
// controller that asks later, and an operation that was begun once is never begun again.
type Operations struct {
	dir     string
	updater watcher.Updater
	log     hclog.Logger
	pauses  backoff.Pauses
	life    context.Context
	end     context.CancelFunc
	work    sync.WaitGroup

	mu       sync.Mutex
	stopping bool
	running  map[string]*job
}

// OpenOperations returns the operations in the folder of an agent, and has those recovered that have not ended. They
// must be closed.
func OpenOperations(dir string, u watcher.Updater, log hclog.Logger) (*Operations, error) {
	o := &Operations{
		dir: filepath.Join(dir, recordsFolder), updater: u, log: log, running: map[string]*job{},
		pauses: backoff.Pauses{First: time.Second, Longest: time.Minute},
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep operations: %w", err)
	}
	o.life, o.end = context.WithCancel(context.Background())
	ids, err := recordIDs(o.dir)
	if err != nil {
		return nil, fmt.Errorf("read the operations: %w", err)
	}
	for _, id := range ids {
		switch r, err := openRecord(o.dir, id); {
		case err != nil:
			log.Error("read an operation that was begun", "operation", id, "error", err)
		case r.outcome == nil:
			log.Info("recovering an operation that was under way at the last stop", "operation", id, "container", r.op.Plan.Name)
			o.start(r, r.op, true)
		}
	}
	return o, nil
}

// Close lets no further step be taken that would stop a container, and waits for those under way, for a while. What has
// not ended then is recovered at the next start.
func (o *Operations) Close() {
	o.mu.Lock()
	o.stopping = true
	o.mu.Unlock()
	timer := time.AfterFunc(drainTime, o.end)
	defer timer.Stop()
	o.work.Wait()
	o.end()
}

var errAgentStops = errors.New("the agent stops; its next start goes on with the operation")

// find returns the operation of an id; nil when there is none.
func (o *Operations) find(id string) (*job, error) {
	if !operationID.MatchString(id) {
		return nil, sdk.Invalid("operation", "%.40q is no id of one", id)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.findLocked(id)
}

func (o *Operations) findLocked(id string) (*job, error) {
	if j := o.running[id]; j != nil {
		return j, nil
	}
	r, err := openRecord(o.dir, id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case r.outcome == nil: // the agent stops
		return nil, errors.Join(errAgentStops, r.file.Close())
	}
	return &job{operations: o, record: r, changed: make(chan struct{})}, nil
}

// begin begins an operation, unless its id is known, and returns it. Its plan is one that this host has made. The
// reason, if any, says why it is not begun.
func (o *Operations) begin(op watcher.Operation) (*job, *watcher.Reason, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if j, err := o.findLocked(op.ID); j != nil || err != nil {
		return j, nil, err
	}
	if o.stopping {
		return nil, nil, errAgentStops
	}
	for id, j := range o.running {
		if related(j.record.op.Plan, op.Plan) {
			return nil, &watcher.Reason{Code: BlockBusy, Text: fmt.Sprintf(
				"operation %s of %s has not ended on the host yet: wait for it", id, j.record.op.Plan.Name)}, nil
		}
	}
	if len(o.running) >= maxOperations {
		return nil, &watcher.Reason{Code: BlockBusy, Text: fmt.Sprintf(
			"%d operations are under way on the host: wait for one", len(o.running))}, nil
	}
	r, err := createRecord(o.dir, recordLine{Operation: stored(op)})
	if err != nil {
		return nil, nil, err
	}
	o.prune()
	return o.start(r, op, false), nil, nil
}

// stored returns what is kept of an operation: no secret, and nothing that only says something to users.
func stored(op watcher.Operation) *watcher.Operation {
	op.Request.Credentials, op.Request.Image.Config, op.Steps = sdk.Credentials{}, nil, nil
	op.Plan.Carried, op.Plan.Changes, op.Plan.Warnings = nil, nil, nil
	return &op
}

// settle keeps an outcome for an operation that was never begun here, so that it never is.
func (o *Operations) settle(op watcher.Operation, out watcher.Outcome) (*job, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if j, err := o.findLocked(op.ID); j != nil || err != nil {
		return j, err
	}
	r, err := createRecord(o.dir, recordLine{Operation: &watcher.Operation{ID: op.ID}}, recordLine{Outcome: &out})
	if err != nil {
		return nil, err
	}
	o.prune()
	return &job{operations: o, record: r, changed: make(chan struct{})}, nil
}

// prune removes the oldest operations that have ended, when there are many. mu is held.
func (o *Operations) prune() {
	ids, err := recordIDs(o.dir)
	if err != nil {
		o.log.Warn("read the operations", "error", err)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return o.running[id] != nil })
	for _, id := range ids[:max(0, len(ids)-keptRecords)] {
		if err := os.Remove(filepath.Join(o.dir, id+recordSuffix)); err != nil {
			o.log.Warn("remove an old operation", "error", err)
		}
	}
}

// related reports whether two plans concern a common container.
func related(a, b watcher.Plan) bool {
	names := map[string]bool{a.Name: true}
	for _, d := range a.Dependents {
		names[d.Name] = true
	}
	return names[b.Name] || slices.ContainsFunc(b.Dependents, func(d watcher.Dependent) bool { return names[d.Name] })
}

// start carries out an operation in a goroutine of its own, which Close waits for. mu is held, or nobody else knows o.
func (o *Operations) start(r *record, op watcher.Operation, recover bool) *job {
	j := &job{operations: o, record: r, changed: make(chan struct{})}
	o.running[r.op.ID] = j
	o.work.Go(func() {
		out, known := j.outcome(op, recover)
		if known {
			known = j.keep(out)
		}
		if err := r.file.Close(); err != nil {
			o.log.Warn("close an operation", "operation", op.ID, "error", err)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.running, op.ID)
		if known {
			o.log.Info("an operation has ended", "operation", op.ID, "container", op.Plan.Name, "state", out.State, "reason",
				out.Reason.Text)
		}
	})
	return j
}

func (o *Operations) isStopping() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stopping
}

// pause waits after something failed, and reports whether to go on.
func (o *Operations) pause(failures int) bool {
	for end := time.Now().Add(o.pauses.After(failures)); time.Now().Before(end) && !o.isStopping(); {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-o.life.Done():
			return false
		}
	}
	return !o.isStopping()
}
