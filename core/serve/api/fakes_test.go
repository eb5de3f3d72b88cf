package api

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
)

// noTrust is a Plugins whose bundles have no file to trust.
type noTrust struct{ *plugin.Host }

func (noTrust) Trust(_ context.Context, name, _ string) error {
	return fmt.Errorf("%s is built in and needs no trust", name)
}

// fakeChecks lets a test decide how checks end. As the real ones they continue when the caller stops waiting.
type fakeChecks struct {
	watchAll func() error
	watchOne func(sdk.Container) error
	explain  func(sdk.Container) check.Explanation
	next     time.Time
	budgets  []budget.Forecast
	progress atomic.Pointer[[]check.Progress]
}

func detached(ctx context.Context, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fakeChecks) WatchAll(ctx context.Context) error {
	if f.watchAll == nil {
		return nil
	}
	return detached(ctx, f.watchAll)
}

func (f *fakeChecks) WatchOne(ctx context.Context, c sdk.Container) error {
	if f.watchOne == nil {
		return nil
	}
	return detached(ctx, func() error { return f.watchOne(c) })
}

func (f *fakeChecks) Explain(_ context.Context, c sdk.Container) check.Explanation {
	if f.explain == nil {
		return check.Explanation{ID: c.ID, Name: c.Name, Image: "docker.io/" + c.Image.Name, Registry: "hub.public",
			Summary: phrase.Texts(phrase.Verbatim("So nothing newer is known.")),
			Rules:   []labels.Rule{{Name: "include", Value: ".*", Source: "default"}},
			Tags:    []check.Verdict{{Tag: "1.26", Kept: true, Reason: "newest", Detail: phrase.Text{Phrase: phrase.Verbatim("the newest")}}}}
	}
	return f.explain(c)
}

func (f *fakeChecks) Next(string) time.Time { return f.next }

func (f *fakeChecks) Progress() []check.Progress {
	if p := f.progress.Load(); p != nil {
		return *p
	}
	return []check.Progress{}
}

func (f *fakeChecks) Budgets() []budget.Forecast { return f.budgets }

func (*fakeChecks) Concurrency() map[string]int { return map[string]int{"docker.io": 16} }

// fakeTriggers records what is run.
type fakeTriggers struct {
	run      func(ctx context.Context) error
	progress atomic.Pointer[[]dispatch.Progress]

	mu   sync.Mutex
	runs []triggerRun
	woke int
}

type triggerRun struct {
	id         string
	containers []sdk.Container
	test       bool
}

func (f *fakeTriggers) RunNow(
	ctx context.Context, id string, containers []sdk.Container, how dispatch.ManualRun,
) error {
	f.mu.Lock()
	f.runs = append(f.runs, triggerRun{id, containers, how.Test})
	f.mu.Unlock()
	if f.run == nil {
		return nil
	}
	return f.run(ctx)
}

func (f *fakeTriggers) DeliveryProgress() []dispatch.Progress {
	if p := f.progress.Load(); p != nil {
		return *p
	}
	return []dispatch.Progress{}
}

func (f *fakeTriggers) Wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.woke++
}

func (f *fakeTriggers) last(t *testing.T) triggerRun {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.runs) == 0 {
		t.Fatal("no trigger ran")
	}
	return f.runs[len(f.runs)-1]
}
