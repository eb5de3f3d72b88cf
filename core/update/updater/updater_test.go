package updater

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// engine is a watcher.Updater whose containers are in memory.
type engine struct {
	mu     sync.Mutex
	blocks []watcher.Reason
	// apply and recover are what the methods do; nil means to take all steps.
	apply, recover func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error)
	planned        []string // the ids of containers
	applied        []string
	recovered      []string
	credentials    []sdk.Credentials
}

var steps = []watcher.Step{
	{ID: "pull", Code: watcher.StepPull, Text: "pull the image"},
	{ID: "stop:web", Code: watcher.StepStop, Container: "web", Text: "stop the old web"},
	{ID: "start:web", Code: watcher.StepStart, Container: "web", Text: "start the new web"},
}

func (e *engine) Plan(_ context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	e.mu.Lock()
	e.planned = append(e.planned, req.ContainerID)
	e.mu.Unlock()
	return watcher.Plan{
		ContainerID: req.ContainerID, Name: "web", State: "s1", Steps: steps, Blocks: e.blocks,
		From:    watcher.PlannedImage{Reference: "docker.io/library/nginx:1.25.0", ID: "sha256:old"},
		To:      watcher.PlannedImage{Reference: req.Image.Reference, Digest: req.Image.Digest},
		Carried: []watcher.Setting{{Name: "env PASSWORD", Value: "hunter2"}},
	}, nil
}

func (e *engine) Apply(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
	e.mu.Lock()
	e.applied = append(e.applied, op.ID)
	e.credentials = append(e.credentials, op.Request.Credentials)
	e.mu.Unlock()
	if e.apply != nil {
		return e.apply(ctx, op, j)
	}
	return takeAll(ctx, op, j)
}

func (e *engine) Recover(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
	e.mu.Lock()
	e.recovered = append(e.recovered, op.ID)
	e.mu.Unlock()
	if e.recover != nil {
		return e.recover(ctx, op, j)
	}
	return watcher.Outcome{
		State: watcher.RolledBack, Reason: watcher.Reason{Code: "interrupted", Text: "it was interrupted"},
	}, nil
}

func takeAll(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
	for _, s := range op.Plan.Steps {
		if err := j.Begin(ctx, s); errors.Is(err, watcher.ErrStop) {
			return watcher.Outcome{
				State: watcher.Unchanged, Reason: watcher.Reason{Code: "stopped", Text: "it was stopped"},
			}, nil
		} else if err != nil {
			return watcher.Outcome{}, err
		}
		if err := j.End(ctx, s, map[string]string{"id": "new"}, nil); err != nil {
			return watcher.Outcome{}, err
		}
	}
	return watcher.Outcome{State: watcher.Updated, ContainerID: "new", Downtime: time.Second}, nil
}

// parts are what the runner needs, each with one of everything.
type parts struct {
	engine     *engine
	forbidden  bool
	config     *sdk.ImageConfig
	noConfig   error
	containers map[string]sdk.Container
	// listed is what happens when containers are to be listed again.
	listed     func(ctx context.Context, watcher, id string) error
	unresolved error
	// tag is what the registry says of a tag; "" means sha256:new. resolved counts how often it is asked.
	tag      string
	resolved atomic.Int32
	// pulledBy is what came with the last such request; pulls is what the engine pulls images with.
	pulledBy atomic.Pointer[sdk.Credentials]
	pulls    func(context.Context, sdk.Container) sdk.Credentials
	// silence and leaveTime are the options of these names.
	silence, leaveTime time.Duration
	// logged is the log, to read once the runner has stopped.
	logged bytes.Buffer
}

func (p *parts) Named(name string) (Watcher, bool) {
	return Watcher{
		ID: "docker." + name, Name: name, Updates: true, Allowed: !p.forbidden, Why: "its option update is false",
		Remedy: "set it", Updater: p.engine,
	}, name == "local"
}
func (p *parts) For(string) (Registry, bool) { return p, true }
func (p *parts) Resolve(_ context.Context, repo registry.Repository, _ string) (string, error) {
	p.pulledBy.Store(&repo.Credentials)
	p.resolved.Add(1)
	if p.unresolved != nil {
		return "", p.unresolved
	}
	return cmp.Or(p.tag, "sha256:new"), nil
}
func (p *parts) Credentials(context.Context, registry.Repository) (sdk.Credentials, error) {
	return sdk.Credentials{Username: "ana", Password: "secret"}, nil
}
func (p *parts) ImageConfig(context.Context, registry.Repository, string, sdk.Platform) (*sdk.ImageConfig, error) {
	return p.config, p.noConfig
}
func (p *parts) ByName(_, name string) (sdk.Container, bool) {
	c, known := p.containers[name]
	return c, known
}

func (p *parts) listAgain(ctx context.Context, watcher, id string) error {
	if p.listed == nil {
		return nil
	}
	return p.listed(ctx, watcher, id)
}

func container(name string) sdk.Container {
	return sdk.Container{
		ID: "id-" + name, Name: name, Watcher: "local", UpdateAvailable: true,
		Image: sdk.Image{
			Registry: sdk.Registry{Host: "docker.io"}, Name: "library/nginx", Tag: sdk.Tag{Value: "1.25.0"},
		},
		Result:     &sdk.Result{Tag: "1.26.0"},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.25.0", RemoteValue: "1.26.0"},
	}
}

// fixture is a runner with a store of its own.
type fixture struct {
	*Runner
	*parts
	store *store.Store
}

func fresh(t *testing.T) *fixture {
	t.Helper()
	return freshWith(t, &parts{})
}

// freshWith returns one with parts whose settings a test has chosen.
func freshWith(t *testing.T, p *parts) *fixture {
	t.Helper()
	var bus event.Bus
	s := storetest.Open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{Bus: &bus})
	t.Cleanup(func() { s.Close() })
	p.engine, p.containers = &engine{}, map[string]sdk.Container{"web": container("web"), "db": container("db")}
	return &fixture{Runner: p.runner(s, &bus), parts: p, store: s}
}

func (p *parts) runner(s *store.Store, bus *event.Bus) *Runner {
	return New(Options{
		Watchers: p, Registries: p, Containers: p, Store: s, Bus: bus, Listed: p.listAgain, Silence: p.silence,
		PullCredentials: func(ctx context.Context, c sdk.Container) sdk.Credentials {
			if p.pulls == nil {
				return sdk.Credentials{}
			}
			return p.pulls(ctx, c)
		},
		LeaveTime: p.leaveTime, Log: hclog.New(&hclog.LoggerOptions{Output: &p.logged}), Now: time.Now,
	})
}

// run runs the runner until the end of the test, or until stop is called.
func (f *fixture) run(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := f.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

func (f *fixture) begin(t *testing.T, name string) operation.Operation {
	t.Helper()
	op, err := f.Start(t.Context(), Request{Container: f.containers[name], Kind: operation.Update, Actor: "ana"})
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func (f *fixture) outcome(t *testing.T, id string) operation.Operation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	op, err := f.Wait(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func TestUpdateIsStoredStepByStep(t *testing.T) {
	f := fresh(t)
	f.run(t)
	op := f.outcome(t, f.begin(t, "web").ID)
	if op.State != operation.Succeeded || len(op.Steps) != 3 || !op.Steps[2].Ended ||
		op.Steps[2].Facts["id"] != "new" || op.Image.Digest != "sha256:new" ||
		op.Image.Reference != "docker.io/library/nginx:1.26.0" {
		t.Errorf("%+v", op)
	}
	if op.Plan.Carried[0].Value != "" {
		t.Error("the value of an environment variable is stored")
	}
	if f.engine.credentials[0].Password != "secret" {
		t.Error("the watcher has no credentials for the pull")
	}
	events, err := f.store.Events(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var types []event.Type
	for _, e := range events {
		types = append(types, e.Type)
	}
	f.run(t)() // which has logged all
	want := "an operation ended: operation=" + op.ID +
		" kind=update container=local/web image=docker.io/library/nginx:1.26.0 state=succeeded took="
	if logged := f.logged.String(); !strings.Contains(logged, want) {
		t.Errorf("logged %q, want %q", logged, want)
	}
	if len(types) != 9 || types[0] != event.OperationQueued || types[1] != event.OperationStarted ||
		types[2] != event.OperationStep || types[8] != event.OperationSucceeded {
		t.Errorf("events: %v", types)
	}
	if _, tried, err := f.Tried(t.Context(), update.KeyOf(new(container("web")))); tried || err != nil {
		t.Errorf("tried %v, %v", tried, err)
	}
}

func TestStartIsRefused(t *testing.T) {
	f := fresh(t)
	f.begin(t, "web")
	request := Request{Container: container("web"), Kind: operation.Update}
	var conflict *ConflictError
	if _, err := f.Start(t.Context(), request); !errors.Is(err, ErrConflict) || !errors.As(err, &conflict) ||
		conflict.Operation.Name != "web" {
		t.Errorf("a second one: %v", err)
	}
	request.Container = container("db")
	request.State = "s0"
	if _, err := f.Start(t.Context(), request); !errors.Is(err, ErrChanged) {
		t.Errorf("another state: %v", err)
	}
	request.State, request.Kind = "", operation.Rollback
	if _, err := f.Start(t.Context(), request); !errors.Is(err, ErrNoUpdate) {
		t.Errorf("nothing to roll back to: %v", err)
	}
	request.Kind = operation.Update
	f.engine.blocks = []watcher.Reason{{Code: "data", Text: "it keeps data"}}
	var blocked *BlockedError
	if _, err := f.Start(t.Context(), request); !errors.Is(err, ErrBlocked) || !errors.As(err, &blocked) ||
		blocked.Plan.Blocks[0].Code != "data" {
		t.Errorf("blocks: %v", err)
	}
	based := request
	based.Container.Base = &sdk.Image{Registry: sdk.Registry{Host: "docker.io"}, Name: "library/node"}
	based.Container.Base.Tag.Value = "22-alpine"
	if _, err := f.Start(t.Context(), based); !errors.Is(err, ErrNoUpdate) ||
		!strings.Contains(err.Error(), "its base image node:22-alpine is newer") ||
		!strings.HasSuffix(err.Error(), "rebuild it") {
		t.Errorf("of a base image: %v", err)
	}
	if _, err := f.Plan(t.Context(), based); !errors.Is(err, ErrNoUpdate) {
		t.Errorf("a plan of a base image: %v", err)
	}
	f.forbidden = true
	if _, err := f.Start(t.Context(), request); !errors.Is(err, ErrForbidden) ||
		err.Error() != "watcher local: updating is not allowed, since its option update is false: set it" {
		t.Errorf("not allowed: %v", err)
	}
}

func TestCancel(t *testing.T) {
	f := fresh(t)
	queued := f.begin(t, "web")
	if err := f.Cancel(t.Context(), queued.ID, "ben"); err != nil {
		t.Fatal(err)
	}
	if err := f.Cancel(t.Context(), queued.ID, "ben"); !errors.Is(err, ErrEnded) {
		t.Errorf("again: %v", err)
	}
	if err := f.Cancel(t.Context(), "none", "ben"); !errors.Is(err, operation.ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
	began, goOn := make(chan struct{}), make(chan struct{})
	f.engine.apply = func(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
		close(began)
		<-goOn
		return takeAll(ctx, op, j)
	}
	f.run(t)
	op := f.begin(t, "web")
	<-began
	if err := f.Cancel(t.Context(), op.ID, "ben"); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	if op := f.outcome(t, op.ID); op.State != operation.Cancelled || len(op.Steps) != 0 || op.Cancel.By != "ben" ||
		op.Error != "it was cancelled by ben" {
		t.Errorf("%+v", op)
	}
	events, err := f.store.Events(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var cancelled []event.Type
	for _, e := range events {
		if e.Operation.By == "ben" {
			cancelled = append(cancelled, e.Type)
		}
	}
	if want := []event.Type{event.OperationCancelled, event.OperationCancelling,
		event.OperationCancelled}; !slices.Equal(cancelled, want) {
		t.Errorf("events with who cancelled: %v, want %v", cancelled, want)
	}
}

// TestCancelEndsAPull at once, and no other step: those are taken to their end.
func TestCancelEndsAPull(t *testing.T) {
	for _, c := range []struct {
		code string
		ends bool
	}{{watcher.StepPull, true}, {watcher.StepStop, false}} {
		t.Run(c.code, func(t *testing.T) {
			f := fresh(t)
			began := make(chan struct{})
			f.engine.apply = func(
				ctx context.Context, _ watcher.Operation, j watcher.Journal,
			) (watcher.Outcome, error) {
				s := watcher.Step{ID: c.code, Code: c.code, Text: "take the step"}
				if err := j.Begin(ctx, s); err != nil {
					return watcher.Outcome{}, err
				}
				close(began)
				select {
				case <-ctx.Done():
					return watcher.Outcome{}, ctx.Err()
				case <-time.After(300 * time.Millisecond):
				}
				if err := j.End(ctx, s, nil, nil); err != nil {
					return watcher.Outcome{}, err
				}
				return watcher.Outcome{State: watcher.Updated}, nil
			}
			f.run(t)
			op := f.begin(t, "web")
			<-began
			if err := f.Cancel(t.Context(), op.ID, "ben"); err != nil {
				t.Fatal(err)
			}
			op = f.outcome(t, op.ID)
			want := operation.Succeeded
			if c.ends {
				want = operation.Cancelled
			}
			if op.State != want || len(op.Steps) != 1 || !op.Steps[0].Ended || len(f.engine.recovered) > 0 {
				t.Errorf("%+v, recovered %v", op, f.engine.recovered)
			}
		})
	}
}

// TestCancelAfterAStep cancels an operation that has begun to change its container: it is
// cancelled if that alone had it return, and may be begun again by itself.
func TestCancelAfterAStep(t *testing.T) {
	for _, c := range []struct {
		code  string
		state operation.State
		tried bool
	}{
		{watcher.ReasonCancelled, operation.Cancelled, false},
		{"step.start", operation.RolledBack, true}, // it did not work before it could stop
	} {
		t.Run(c.code, func(t *testing.T) {
			f := fresh(t)
			began, goOn := make(chan struct{}), make(chan struct{})
			f.engine.apply = func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
				close(began)
				<-goOn
				return watcher.Outcome{State: watcher.RolledBack, Reason: watcher.Reason{Code: c.code, Text: "it returned"}}, nil
			}
			f.run(t)
			op := f.begin(t, "web")
			<-began
			if err := f.Cancel(t.Context(), op.ID, "ben"); err != nil {
				t.Fatal(err)
			}
			close(goOn)
			web := container("web")
			if op := f.outcome(t, op.ID); op.State != c.state {
				t.Errorf("the operation is %s, want %s", op.State, c.state)
			}
			if _, tried, err := f.Tried(t.Context(), update.KeyOf(&web)); err != nil || tried != c.tried {
				t.Errorf("tried: %t, %v; want %t", tried, err, c.tried)
			}
		})
	}
}

func TestRollbackUsesTheImageBefore(t *testing.T) {
	f := fresh(t)
	f.run(t)
	f.outcome(t, f.begin(t, "web").ID)
	op, err := f.Start(t.Context(), Request{Container: container("web"), Kind: operation.Rollback, Actor: "ana"})
	if err != nil {
		t.Fatal(err)
	}
	if op = f.outcome(t, op.ID); op.State != operation.Succeeded || op.Image.ID != "sha256:old" ||
		op.Image.Digest != "" || op.ContainerID != "new" {
		t.Errorf("%+v", op)
	}
	trial, tried, err := f.Tried(t.Context(), update.KeyOf(new(container("web"))))
	if !tried || err != nil || trial.Undone == nil || trial.Undone.By != "ana" || !trial.Undone.At.Equal(op.Queued) {
		t.Errorf("tried %v, %+v, %v", tried, trial, err)
	}
	if _, err := f.Start(t.Context(), Request{Container: container("web"), Kind: operation.Rollback}); !errors.Is(err,
		ErrNoUpdate) {
		t.Errorf("a second rollback: %v", err)
	}
}

func TestDryRunSucceedsAndIsNothingToRollBack(t *testing.T) {
	f := fresh(t)
	f.engine.apply = func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
		return watcher.Outcome{
			State: watcher.Unchanged, Reason: watcher.Reason{Code: "dryrun", Text: "the image was pulled"},
		}, nil
	}
	f.run(t)
	op, err := f.Start(t.Context(), Request{
		Container: container("web"), Kind: operation.Update, Rules: watcher.UpdateRules{DryRun: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if op = f.outcome(t, op.ID); op.State != operation.Succeeded || op.Error != "" {
		t.Errorf("%+v", op)
	}
	if _, err := f.Start(t.Context(), Request{Container: container("web"), Kind: operation.Rollback}); !errors.Is(err,
		ErrNoUpdate) {
		t.Errorf("a rollback: %v", err)
	}
}
