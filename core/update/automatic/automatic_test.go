package automatic

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

var start = time.Date(2026, 11, 23, 2, 0, 0, 0, time.UTC)

// fixture is a runner with a store, and an updater that only stores operations.
type fixture struct {
	*Runner
	store      *store.Store
	bus        event.Bus
	now        time.Time
	containers []*sdk.Container
	choices    []choice.Choice
	requests   []string // the names of those whose update was requested
	refuse     map[string]error
	ids        int
	killed     func() error // after an operation is stored
	decided    int          // how often it was to be decided again
	log        strings.Builder
}

func fresh(t *testing.T, containers ...*sdk.Container) *fixture {
	t.Helper()
	f := &fixture{now: start, containers: containers, refuse: map[string]error{}}
	f.store = storetest.Open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{Bus: &f.bus})
	t.Cleanup(func() { f.store.Close() })
	f.restart()
	return f
}

// restart makes another runner, as after a crash.
func (f *fixture) restart() {
	f.Runner = New(Options{
		Containers: func() []*sdk.Container { return f.containers },
		Choices:    func(string) []choice.Choice { return f.choices },
		Operations: f.store, Updater: f, Bus: &f.bus,
		Scanned: scan.None{}.Verdict, Decide: func(context.Context) { f.decided++ },
		Redact: func(text string) string { return text }, Log: hclog.New(&hclog.LoggerOptions{Output: &f.log}),
		Now: func() time.Time { return f.now },
	})
}

// Start implements Updater.
func (f *fixture) Start(ctx context.Context, req updater.Request) (operation.Operation, error) {
	c := req.Container
	f.requests = append(f.requests, c.Name)
	if err := f.refuse[c.Name]; err != nil {
		return operation.Operation{}, err
	}
	f.ids++
	op := operation.Operation{
		ID: fmt.Sprintf("%05d", f.ids), Kind: req.Kind, Watcher: c.Watcher, Name: c.Name,
		Update: update.KeyOf(&c).String(), Project: c.Stack, Rules: req.Rules,
		Actor: req.Actor, IdempotencyKey: req.IdempotencyKey, State: operation.Queued, Queued: f.now,
	}
	if err := f.store.AddOperation(context.WithoutCancel(ctx), op); err != nil || f.killed == nil {
		return op, err
	}
	return op, f.killed()
}

// look makes a pass, and returns which updates were begun.
func (f *fixture) look(t *testing.T) string {
	t.Helper()
	before := len(f.all(t))
	if _, err := f.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := f.all(t)
	var started []string
	for _, op := range all[:len(all)-before] {
		started = append(started, op.Name)
	}
	slices.Sort(started)
	return strings.Join(started, " ")
}

func (f *fixture) all(t *testing.T) []operation.Operation {
	t.Helper()
	all, err := f.store.Operations(context.WithoutCancel(t.Context()), operation.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// end ends the operations under way, one minute later.
func (f *fixture) end(t *testing.T, state operation.State, outcome *watcher.Outcome) {
	t.Helper()
	f.now = f.now.Add(time.Minute)
	for _, op := range f.all(t) {
		if op.State.Ended() {
			continue
		}
		op.State, op.Outcome, op.Ended = state, outcome, f.now
		if err := f.store.ChangeOperation(t.Context(), operation.Queued, op); err != nil {
			t.Fatal(err)
		}
	}
}

// due returns a container whose update is to be carried out by a rule.
func due(name string, needs ...string) *sdk.Container {
	c := &sdk.Container{
		ID: "id-" + name, Name: name, Watcher: "local", UpdateAvailable: true,
		Labels: map[string]string{"com.docker.compose.service": name},
		Image:  sdk.Image{Tag: sdk.Tag{Value: "1.0.0"}}, Result: &sdk.Result{Tag: "1.1.0"},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0.0", RemoteValue: "1.1.0", SemverDiff: sdk.DiffMinor},
		Decision: &sdk.Decision{
			State: sdk.StateAutomatic, OfferedAt: sdk.TimeOf(start),
			Reasons: []sdk.Reason{{Code: policy.ReasonAutomatic, Source: "policy.update"}},
		},
	}
	for _, other := range needs {
		c.Labels["com.docker.compose.depends_on"] += other + ":service_healthy:true,"
	}
	return c
}

func inStack(stack string, all ...*sdk.Container) []*sdk.Container {
	for _, c := range all {
		c.Stack = stack
	}
	return all
}

func TestOnlyAutomaticUpdatesBegin(t *testing.T) {
	held, offered, stale, none := due("held"), due("offered"), due("stale"), due("none")
	held.Decision.State, offered.Decision.State, none.Decision = sdk.StateHeld, sdk.StateOffered, nil
	stale.Decision.Until = sdk.TimeOf(start) // its window has closed
	f := fresh(t, held, offered, stale, none)
	if started := f.look(t); started != "" {
		t.Errorf("began %s", started)
	}
	current := due("current")
	current.Decision.Until = sdk.TimeOf(start.Add(time.Second))
	f.containers = append(f.containers, current)
	if started := f.look(t); started != "current" {
		t.Errorf("began %q", started)
	}
	if op := f.all(t)[0]; op.Actor != "rule policy.update" || op.Kind != operation.Update || op.Trigger != "" {
		t.Errorf("%+v", op)
	}
}

func TestAtMostSoManyAtOnce(t *testing.T) {
	f := fresh(t, due("a"), due("b"), due("c"))
	for _, want := range []string{"a b", "", "c"} {
		if started := f.look(t); started != want {
			t.Errorf("began %q, want %q", started, want)
		}
		if want == "" {
			f.end(t, operation.Succeeded, nil)
		}
	}
}

func TestDependenciesAreUpdatedFirstAndOneByOne(t *testing.T) {
	f := fresh(t, inStack("shop", due("app", "db", "cache"), due("cache", "db"), due("db"), due("web", "app"))...)
	for _, want := range []string{"db", "cache", "app", "web", ""} {
		if started := f.look(t); started != want {
			t.Fatalf("began %q, want %q", started, want)
		}
		if started := f.look(t); started != "" {
			t.Fatalf("began %q beside %s", started, want)
		}
		f.end(t, operation.Succeeded, nil)
	}
}

func TestDependencyCircleIsUpdatedOnce(t *testing.T) {
	var names []string
	for _, c := range ordered(inStack("odd", due("a", "b"), due("b", "c"), due("c", "a", "c"), due("d", "none"))) {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "c b a d" {
		t.Errorf("order %s", got)
	}
}

func TestFailureStopsTheRestOfItsStack(t *testing.T) {
	for state, outcome := range map[operation.State]*watcher.Outcome{
		operation.RolledBack: {State: watcher.RolledBack}, operation.Failed: {State: watcher.Broken},
		operation.Cancelled: {State: watcher.Unchanged},
	} {
		t.Run(string(state), func(t *testing.T) {
			db, app, other := due("db"), due("app", "db"), due("other")
			inStack("shop", db, app)
			f := fresh(t, db, app, other)
			if started := f.look(t); started != "db other" {
				t.Fatalf("began %q", started)
			}
			f.end(t, state, outcome)
			for _, title := range []string{"automatic still", "offered only, as it came back"} {
				if started := f.look(t); started != "" {
					t.Errorf("%s: began %q after a failure", title, started)
				}
				f.restart()
				db.Decision.State = sdk.StateOffered
			}
			approve(f, app)
			if started := f.look(t); started != "app" {
				t.Errorf("an approval later than the failure began %q", started)
			}
			f.end(t, operation.Succeeded, nil)
			db.Decision.State, db.UpdateKind.RemoteValue, db.Result.Tag, db.Decision.OfferedAt = sdk.StateAutomatic,
				"1.2.0", "1.2.0", sdk.TimeOf(f.now.Add(time.Second))
			if started := f.look(t); started != "db" {
				t.Errorf("something newer began %q", started)
			}
		})
	}
}

// TestStoppedStackIsDecidedAgain: what waits behind a failure is held for that reason, for as
// long as that is so.
func TestStoppedStackIsDecidedAgain(t *testing.T) {
	db, app, other := due("db"), due("app", "db"), due("other")
	inStack("shop", db, app)
	f := fresh(t, db, app, other)
	stop := func() string {
		t.Helper()
		s, err := StoppedBy(t.Context(), f.store, f.containers, app)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*sdk.Container{db, other} {
			if s, err := StoppedBy(t.Context(), f.store, f.containers, c); err != nil || s.Name != "" {
				t.Errorf("%s is stopped by %v, %v", c.Name, s, err)
			}
		}
		return s.Name
	}
	f.look(t)
	if by := stop(); by != "" || f.decided > 0 {
		t.Errorf("stopped by %q, decided %d times before a failure", by, f.decided)
	}
	f.end(t, operation.RolledBack, &watcher.Outcome{State: watcher.RolledBack})
	f.look(t)
	if by := stop(); by != "db" || f.decided != 1 {
		t.Errorf("stopped by %q, decided %d times after it", by, f.decided)
	}
	const said = `automatic: held: stack stopped by db (failed 02:01): container=local/app stack=shop`
	if log := f.log.String(); strings.Count(log, "held: ") != 1 || !strings.Contains(log, said) {
		t.Errorf("want the log to say once %q: %s", said, log)
	}
	db.Decision.State, app.Decision.State = sdk.StateOffered, sdk.StateHeld
	app.Decision.Reasons = []sdk.Reason{{Code: policy.ReasonStack, Text: "stack stopped by db (failed 02:01)"}}
	if f.look(t); f.decided != 1 || strings.Count(f.log.String(), "held: ") != 1 {
		t.Errorf("decided %d times though nothing has changed: %s", f.decided, f.log.String())
	}
	// A user updates by hand what has failed.
	by := operation.Operation{ID: "x1", Kind: operation.Update, Watcher: "local", Name: "db", Actor: "ana"}
	if err := f.store.AddOperation(t.Context(), by); err != nil {
		t.Fatal(err)
	}
	f.end(t, operation.Succeeded, &watcher.Outcome{State: watcher.Updated})
	db.UpdateAvailable, other.UpdateAvailable = false, false
	if f.look(t); f.decided != 2 || stop() != "" {
		t.Errorf("decided %d times once it works, stopped by %q", f.decided, stop())
	}
}

// approve has a user approve the update of a container now.
func approve(f *fixture, c *sdk.Container) {
	f.now = f.now.Add(time.Minute)
	f.choices = append(f.choices, choice.Choice{
		Subject: event.Subject(*c), Update: update.KeyOf(c), Kind: choice.Approved, Actor: "ana", At: sdk.TimeOf(f.now),
	})
	c.Decision.Reasons = []sdk.Reason{{Code: policy.ReasonApproved, Source: "ana"}}
}

func TestApprovalBeginsOneOperation(t *testing.T) {
	c := due("web")
	f := fresh(t, c)
	approve(f, c)
	if started := f.look(t); started != "web" || f.all(t)[0].Actor != "ana" {
		t.Fatalf("began %q: %+v", started, f.all(t))
	}
	approve(f, c) // again, while it is under way
	f.end(t, operation.Succeeded, &watcher.Outcome{State: watcher.Updated})
	for range 2 {
		if started := f.look(t); started != "" {
			t.Errorf("began %q for an update that is done", started)
		}
		f.restart()
	}
	approve(f, c) // since the check finds the same again
	if started := f.look(t); started != "web" {
		t.Errorf("a later approval began %q", started)
	}
	f.end(t, operation.RolledBack, &watcher.Outcome{State: watcher.RolledBack})
	if started := f.look(t); started != "" {
		t.Errorf("began %q again without a user", started)
	}
}

func TestFailureThatMayPassIsTriedAgainAFewTimes(t *testing.T) {
	for code, state := range map[string]struct {
		operation operation.State
		outcome   watcher.OutcomeState
	}{
		watcher.StepPull:          {operation.Failed, watcher.Unchanged},
		watcher.ReasonInterrupted: {operation.RolledBack, watcher.RolledBack},
	} {
		t.Run(code, func(t *testing.T) {
			f := fresh(t, inStack("shop", due("db"), due("web", "db"))...)
			for attempt := range operation.MaxAttempts {
				if started := f.look(t); started != "db" {
					t.Fatalf("attempt %d began %q", attempt+1, started)
				}
				f.end(t, state.operation, &watcher.Outcome{State: state.outcome, Reason: watcher.Reason{Code: code}})
				again, err := f.pass(t.Context())
				if last := attempt == operation.MaxAttempts-1; err != nil || again.IsZero() != last {
					t.Fatalf("attempt %d: again at %v, %v", attempt+1, again, err)
				}
				f.now = f.now.Add(maxPause)
			}
			if started := f.look(t); started != "" {
				t.Errorf("began %q after the last attempt", started)
			}
		})
	}
}

func TestRefusedUpdateWaits(t *testing.T) {
	f := fresh(t, inStack("shop", due("db"), due("web", "db"))...)
	f.refuse["db"] = errors.New("the registry cannot be reached")
	for _, pause := range []time.Duration{minPause, 2 * minPause} {
		f.requests = nil
		if again, err := f.pass(t.Context()); err != nil || !again.Equal(f.now.Add(pause)) {
			t.Fatalf("again at %v, %v", again, err)
		}
		if _, err := f.pass(t.Context()); err != nil || fmt.Sprint(f.requests) != "[db]" {
			t.Fatalf("requested %v, %v", f.requests, err)
		}
		f.now = f.now.Add(pause)
	}
	f.refuse["db"] = &updater.BlockedError{}
	if started := f.look(t); started != "web" {
		t.Errorf("beside one that is blocked, %q began", started)
	}
	f.containers = nil
	f.look(t)
	if len(f.refused) != 0 {
		t.Errorf("refusals are kept: %v", f.refused)
	}
}

func TestRunBeginsWhatIsDecidedLater(t *testing.T) {
	c := due("web")
	f := fresh(t, c)
	c.Decision.State = sdk.StateHeld
	var decided []*sdk.Container
	decided = append(decided, due("web"))
	passed := make(chan struct{}, 10)
	current := make(chan []*sdk.Container, 1)
	current <- f.containers
	f.Runner.opt.Containers = func() []*sdk.Container {
		passed <- struct{}{}
		now := <-current
		current <- now
		return now
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- f.Run(ctx) }()
	<-passed
	<-current
	current <- decided
	f.bus.Wake()
	for len(f.all(t)) == 0 {
		select {
		case <-passed:
		case <-time.After(20 * time.Second):
			t.Fatal("nothing began")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestPredecessorIsNotUpdated: the old container of an operation is listed under another name.
func TestPredecessorIsNotUpdated(t *testing.T) {
	for state, want := range map[operation.State]string{
		operation.Queued: "", operation.Succeeded: "", operation.RolledBack: "renamed",
	} {
		old, renamed := due("web-dogwatch-00000a"), due("renamed")
		ids := map[*sdk.Container]string{old: "00000a", renamed: "00000b"}
		f := fresh(t, old, renamed)
		for _, c := range []*sdk.Container{old, renamed} {
			op := operation.Operation{
				ID: ids[c], Kind: operation.Update, Watcher: "local", Name: "was-" + c.Name, ContainerID: c.ID,
			}
			if err := f.store.AddOperation(t.Context(), op); err != nil {
				t.Fatal(err)
			}
		}
		if state != operation.Queued {
			f.end(t, state, nil)
		}
		if got := f.look(t); got != want {
			t.Errorf("after an operation that is %s %q is updated, want %q", state, got, want)
		}
	}
}

// TestAgentsAreUpdatedOneFirst and the others once that works, and not at all after it has failed. One that cannot be
// reached keeps no other waiting.
func TestAgentsAreUpdatedOneFirst(t *testing.T) {
	fleet := func() []*sdk.Container {
		var all []*sdk.Container
		for _, host := range []string{"attic", "nas", "pi"} {
			c := due("agent-" + host)
			c.Watcher, c.Stack, c.Labels = host, "", map[string]string{"org.opencontainers.image.source": ownSource}
			all = append(all, c)
		}
		return all
	}
	f := fresh(t, fleet()...)
	for _, want := range []string{"agent-attic", "agent-nas", "agent-pi"} {
		if got := f.look(t); got != want {
			t.Fatalf("began %q, want %s", got, want)
		}
		if got := f.look(t); got != "" {
			t.Fatalf("began %q beside it", got)
		}
		f.end(t, operation.Succeeded, nil)
	}

	all := fleet()
	f = fresh(t, all...)
	f.refuse["agent-attic"] = errors.New("the agent is not connected")
	if got := f.look(t); got != "agent-nas" {
		t.Fatalf("began %q while another is not connected", got)
	}
	f.end(t, operation.RolledBack, &watcher.Outcome{State: watcher.RolledBack})
	delete(f.refuse, "agent-attic")
	f.now = f.now.Add(2 * maxPause)
	if got := f.look(t); got != "" {
		t.Errorf("began %q after a failure", got)
	}
	if stop, err := StoppedBy(t.Context(), f.store, all, all[2]); err != nil || stop.Name != "nas/agent-nas" {
		t.Errorf("stopped by %+v, %v", stop, err)
	}
}
