package automatic

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// shut returns a container whose update waits for a window that opens after a time.
func shut(name string, after time.Duration) *sdk.Container {
	c := due(name)
	c.Decision.State = sdk.StateHeld
	c.Decision.Reasons = []sdk.Reason{{Code: policy.ReasonWindow, Until: sdk.TimeOf(start.Add(after))}}
	return c
}

// preloading returns a fixture that pulls images an hour before a window opens.
func preloading(t *testing.T, containers ...*sdk.Container) *fixture {
	t.Helper()
	f := fresh(t, containers...)
	f.Runner.opt.Preload = time.Hour
	f.Runner.opt.Follows = func(_ context.Context, c *sdk.Container, at time.Time) bool {
		return c.Name != "notified" && at.Equal(c.Decision.Reasons[0].Until.Time)
	}
	return f
}

// pulls fails unless all operations are dry runs, which pull an image and nothing else.
func pulls(t *testing.T, f *fixture) {
	t.Helper()
	for _, op := range f.all(t) {
		if !op.Rules.DryRun {
			t.Errorf("%s: no dry run", op.Name)
		}
	}
}

// TestImagesArePulledBeforeTheWindowOpens: once, not before the time that is set, and only of
// updates that are carried out then, which the window is for.
func TestImagesArePulledBeforeTheWindowOpens(t *testing.T) {
	held := due("held")
	held.Decision.State = sdk.StateHeld
	web := shut("web", 2*time.Hour)
	f := preloading(t, web, shut("notified", 2*time.Hour), shut("past", -time.Minute), held)
	if started := f.look(t); started != "" {
		t.Fatalf("pulled %q two hours before", started)
	}
	if next, err := f.pass(t.Context()); err != nil || !next.Equal(start.Add(time.Hour)) {
		t.Errorf("it looks again at %v, %v", next, err)
	}
	f.now = start.Add(time.Hour)
	if started := f.look(t); started != "web" {
		t.Fatalf("pulled %q an hour before", started)
	}
	pulls(t, f)
	if op := f.all(t)[0]; op.Actor != "rule updates.preload" || op.Kind != operation.Update {
		t.Errorf("%+v", op)
	}
	f.end(t, operation.Succeeded, &watcher.Outcome{State: watcher.Unchanged, Reason: watcher.Reason{Code: "dryrun"}})
	for range 2 {
		if started := f.look(t); started != "" {
			t.Errorf("pulled %q again", started)
		}
		f.now = f.now.Add(10 * time.Minute)
	}
	// The window opens.
	f.now = start.Add(2 * time.Hour)
	web.Decision = due("web").Decision
	if started := f.look(t); started != "web" {
		t.Errorf("carried out %q in the window", started)
	}
	if op := f.all(t)[0]; op.Rules.DryRun || !isAutomatic(op) {
		t.Errorf("%+v", op)
	}
}

func TestImagesAreNotPulledUnlessAsked(t *testing.T) {
	f := preloading(t, shut("web", time.Minute))
	f.Runner.opt.Preload = 0
	if started := f.look(t); started != "" {
		t.Errorf("pulled %q", started)
	}
}

// TestPullThatFailsIsTriedAFewTimes: and keeps no update from its window.
func TestPullThatFailsIsTriedAFewTimes(t *testing.T) {
	web := shut("web", 50*time.Minute)
	web.Stack = "shop"
	f := preloading(t, web)
	for attempt := range operation.MaxAttempts {
		if started := f.look(t); started != "web" {
			t.Fatalf("attempt %d pulled %q", attempt+1, started)
		}
		f.end(t, operation.Failed, &watcher.Outcome{State: watcher.Unchanged,
			Reason: watcher.Reason{Code: watcher.StepPull}})
		if started := f.look(t); started != "" {
			t.Fatalf("pulled %q without a pause", started)
		}
		f.now = f.now.Add(5 * time.Minute)
	}
	if started := f.look(t); started != "" {
		t.Errorf("pulled %q after the last attempt", started)
	}
	app := due("app")
	app.Stack, f.containers = "shop", append(f.containers, app)
	if started := f.look(t); started != "app" {
		t.Errorf("beside an image that cannot be pulled, %q began", started)
	}
}

func TestPullThatIsRefusedWaits(t *testing.T) {
	soon := 30 * time.Minute
	f := preloading(t, shut("web", 50*time.Minute), shut("a", soon), shut("b", soon), shut("c", soon))
	f.refuse["web"] = &updater.BlockedError{}
	for range 3 {
		f.look(t)
	}
	if got := fmt.Sprint(f.requests); got != "[web a b]" {
		t.Errorf("requested %s, want at most two at once, and what is blocked once", got)
	}
}
