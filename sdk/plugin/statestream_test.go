package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// hostWorld tells what a test puts into changes.
type hostWorld struct {
	asked   chan struct{} // gets one for each Next
	changes chan trigger.Change
	run     func(ctx context.Context, triggerID, containerID string) error
}

func newHostWorld() *hostWorld {
	return &hostWorld{asked: make(chan struct{}, 1000), changes: make(chan trigger.Change)}
}

var errNoMore = errors.New("there is no more")

func (w *hostWorld) Next(ctx context.Context) (trigger.Change, error) {
	w.asked <- struct{}{}
	select {
	case c, more := <-w.changes:
		if !more {
			return trigger.Change{}, errNoMore
		}
		return c, nil
	case <-ctx.Done():
		return trigger.Change{}, ctx.Err()
	}
}

func (w *hostWorld) Run(ctx context.Context, triggerID, containerID string) error {
	return w.run(ctx, triggerID, containerID)
}

// following starts to follow w; the channel gets what Follow returns.
func following(ctx context.Context, c *pluginclient.Client, w trigger.StateStream) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- c.Trigger(mainTrigger).Subscribe(ctx, w) }()
	return ended
}

func TestFollowTellsChanges(t *testing.T) {
	heard := make(chan trigger.Change)
	f := newFakes()
	f.follow = func(ctx context.Context, w trigger.StateStream) error {
		for {
			c, err := w.Next(ctx)
			if err != nil {
				return err
			}
			heard <- c
		}
	}
	c, _ := f.serve(t)
	w := newHostWorld()
	ctx, stop := context.WithCancel(t.Context())
	ended := following(ctx, c, w)
	for _, change := range []trigger.Change{
		{All: true},
		{Put: manyContainers(600), Watchers: []trigger.WatcherState{{Name: "local", Checking: true}}}, // 6 MB
		{Removed: manyContainers(2), Watchers: []trigger.WatcherState{{Name: "local"}}},
	} {
		w.changes <- change
		if got := <-heard; !reflect.DeepEqual(got, change) {
			t.Errorf("told %d put, %d removed, %+v: heard %d, %d, %+v", len(change.Put), len(change.Removed), change.Watchers, len(got.Put), len(got.Removed), got.Watchers)
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Nothing is asked of the host that the follower does not ask for, or changes
// would pile up between them.
func TestFollowAsksForOneChangeAtATime(t *testing.T) {
	f := newFakes()
	took := make(chan struct{})
	f.follow = func(ctx context.Context, w trigger.StateStream) error {
		for range 2 {
			brief, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := w.Next(brief); err == nil {
				return errors.New("told after the context had ended")
			}
		}
		took <- struct{}{}
		if c, err := w.Next(ctx); err != nil || !c.All {
			return fmt.Errorf("got %+v, %v", c, err)
		}
		took <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	c, _ := f.serve(t)
	w := newHostWorld()
	ctx, stop := context.WithCancel(t.Context())
	ended := following(ctx, c, w)
	<-took
	w.changes <- trigger.Change{All: true}
	<-took
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := len(w.asked); n != 1 {
		t.Errorf("the host was asked %d times, want 1", n)
	}
}

func TestFollowRunsOtherTriggers(t *testing.T) {
	const many = 100
	f := newFakes()
	f.follow = func(ctx context.Context, w trigger.StateStream) error {
		var all sync.WaitGroup
		failures := make(chan error, many)
		for i := range many {
			all.Go(func() {
				err := w.Run(ctx, "docker.local", fmt.Sprint(i))
				if odd := i%2 == 1; odd != (err != nil) || err != nil && err.Error() != fmt.Sprintf("no %d", i) {
					failures <- fmt.Errorf("run %d: %w", i, err)
				}
			})
		}
		all.Wait()
		brief, cancel := context.WithCancel(ctx)
		cancel()
		if err := w.Run(brief, "docker.local", "0"); !errors.Is(err, context.Canceled) {
			failures <- fmt.Errorf("a cancelled run: %w", err)
		}
		close(failures)
		return <-failures
	}
	c, _ := f.serve(t)
	w := newHostWorld()
	w.run = func(_ context.Context, triggerID, containerID string) error {
		var i int
		if _, err := fmt.Sscan(containerID, &i); err != nil || triggerID != "docker.local" {
			return err
		}
		if i%2 == 1 {
			return fmt.Errorf("no %d", i)
		}
		return nil
	}
	if err := <-following(t.Context(), c, w); err != nil {
		t.Error(err)
	}
}

func TestFollowEnds(t *testing.T) {
	for name, test := range map[string]struct {
		follow func(context.Context, trigger.StateStream) error
		end    func(t *testing.T, c *pluginclient.Client, w *hostWorld)
		want   error
	}{
		"when the instance is released": {
			end: func(t *testing.T, c *pluginclient.Client, _ *hostWorld) {
				if err := c.Release(t.Context(), mainTrigger); err != nil {
					t.Error(err)
				}
			}, want: sdk.ErrUnavailable,
		},
		"when the instance is replaced": {
			end: func(t *testing.T, c *pluginclient.Client, _ *hostWorld) {
				configure(t, c, kind.Trigger, "fake", "second")
			},
			want: sdk.ErrUnavailable,
		},
		"when the host has no more": {
			end: func(_ *testing.T, _ *pluginclient.Client, w *hostWorld) { close(w.changes) }, want: errNoMore,
		},
		"when it gives up": {
			follow: func(context.Context, trigger.StateStream) error { return sdk.Invalid("label", "no good") },
			want:   &sdk.InvalidError{},
		},
		"when it panics": {follow: func(context.Context, trigger.StateStream) error { panic("as asked") }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakes()
			f.follow = func(ctx context.Context, w trigger.StateStream) error {
				if test.follow != nil {
					return test.follow(ctx, w)
				}
				_, err := w.Next(ctx)
				return err
			}
			c, _ := f.serve(t)
			w := newHostWorld()
			ended := following(t.Context(), c, w)
			if test.end != nil {
				<-w.asked
				test.end(t, c, w)
			}
			err := <-ended
			var invalid *sdk.InvalidError
			if err == nil || test.want != nil && !errors.Is(err, test.want) && !errors.As(err, &invalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFollowNeedsAFollower(t *testing.T) {
	type plain struct{ trigger.Trigger }
	typ := trigger.Define("plain", "Does not follow", func(sdk.Env, fakeOptions) (plain, error) { return plain{}, nil })
	c := inprocess.Serve(t, plugin.Bundle{Triggers: []trigger.Type{typ}}, io.Discard)
	if _, err := inprocess.Configure(t.Context(), c, typ.Type, "main", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Trigger("trigger.plain.main").Subscribe(t.Context(), newHostWorld()); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if err := c.Trigger("trigger.plain.other").Subscribe(t.Context(), newHostWorld()); !errors.Is(err, protocol.ErrUnknownInstance) {
		t.Errorf("got %v", err)
	}
	if strings.Join(typ.Capabilities, " ") != "" || strings.Join(newFakes().bundle().Triggers[0].Capabilities, " ") != kind.CapStateStream {
		t.Error("the capability follow is not that of the types that follow")
	}
}
