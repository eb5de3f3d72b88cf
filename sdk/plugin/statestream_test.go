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

// hostStream sends what a test puts into changes.
type hostStream struct {
	requests chan struct{} // gets one for each Next
	changes  chan trigger.Change
	run      func(ctx context.Context, triggerID, containerID string) error
}

func newHostStream() *hostStream {
	return &hostStream{requests: make(chan struct{}, 1000), changes: make(chan trigger.Change)}
}

var errNoMore = errors.New("there is no more")

func (w *hostStream) Next(ctx context.Context) (trigger.Change, error) {
	w.requests <- struct{}{}
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

func (w *hostStream) Run(ctx context.Context, triggerID, containerID string) error {
	return w.run(ctx, triggerID, containerID)
}

// subscribe subscribes to w; the channel gets what Subscribe returns.
func subscribe(ctx context.Context, c *pluginclient.Client, w trigger.StateStream) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- c.Trigger(mainTrigger).Subscribe(ctx, w) }()
	return ended
}

func TestSubscribeSendsChanges(t *testing.T) {
	received := make(chan trigger.Change)
	f := newFakes()
	f.subscribe = func(ctx context.Context, w trigger.StateStream) error {
		for {
			c, err := w.Next(ctx)
			if err != nil {
				return err
			}
			received <- c
		}
	}
	c, _ := f.serve(t)
	w := newHostStream()
	ctx, stop := context.WithCancel(t.Context())
	ended := subscribe(ctx, c, w)
	for _, change := range []trigger.Change{
		{All: true},
		{Put: manyContainers(600), Watchers: []trigger.WatcherState{{Name: "local", Checking: true}}}, // 6 MB
		{Removed: manyContainers(2), Watchers: []trigger.WatcherState{{Name: "local"}}},
	} {
		w.changes <- change
		if got := <-received; !reflect.DeepEqual(got, change) {
			t.Errorf("sent %d put, %d removed, %+v: received %d, %d, %+v", len(change.Put), len(change.Removed),
				change.Watchers, len(got.Put), len(got.Removed), got.Watchers)
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A change is sent only when the subscriber requests one, or changes would
// pile up between them.
func TestSubscribeRequestsOneChangeAtATime(t *testing.T) {
	f := newFakes()
	took := make(chan struct{})
	f.subscribe = func(ctx context.Context, w trigger.StateStream) error {
		for range 2 {
			brief, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := w.Next(brief); err == nil {
				return errors.New("a change after the context had ended")
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
	w := newHostStream()
	ctx, stop := context.WithCancel(t.Context())
	ended := subscribe(ctx, c, w)
	<-took
	w.changes <- trigger.Change{All: true}
	<-took
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := len(w.requests); n != 1 {
		t.Errorf("%d changes were requested, want 1", n)
	}
}

func TestSubscribeRunsOtherTriggers(t *testing.T) {
	const many = 100
	f := newFakes()
	f.subscribe = func(ctx context.Context, w trigger.StateStream) error {
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
	w := newHostStream()
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
	if err := <-subscribe(t.Context(), c, w); err != nil {
		t.Error(err)
	}
}

func TestSubscribeEnds(t *testing.T) {
	for name, test := range map[string]struct {
		subscribe func(context.Context, trigger.StateStream) error
		end       func(t *testing.T, c *pluginclient.Client, w *hostStream)
		want      error
	}{
		"when the instance is released": {
			end: func(t *testing.T, c *pluginclient.Client, _ *hostStream) {
				if err := c.Release(t.Context(), mainTrigger); err != nil {
					t.Error(err)
				}
			}, want: sdk.ErrUnavailable,
		},
		"when the instance is replaced": {
			end: func(t *testing.T, c *pluginclient.Client, _ *hostStream) {
				configure(t, c, kind.Trigger, "fake", "second")
			},
			want: sdk.ErrUnavailable,
		},
		"when the host has no more": {
			end: func(_ *testing.T, _ *pluginclient.Client, w *hostStream) { close(w.changes) }, want: errNoMore,
		},
		"when it gives up": {
			subscribe: func(context.Context, trigger.StateStream) error { return sdk.Invalid("label", "no good") },
			want:      &sdk.InvalidError{},
		},
		"when it panics": {subscribe: func(context.Context, trigger.StateStream) error { panic("as asked") }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakes()
			f.subscribe = func(ctx context.Context, w trigger.StateStream) error {
				if test.subscribe != nil {
					return test.subscribe(ctx, w)
				}
				_, err := w.Next(ctx)
				return err
			}
			c, _ := f.serve(t)
			w := newHostStream()
			ended := subscribe(t.Context(), c, w)
			if test.end != nil {
				<-w.requests
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

func TestSubscribeNeedsSubscriber(t *testing.T) {
	type plain struct{ trigger.Trigger }
	typ := trigger.Define("plain", "Is no subscriber", func(sdk.Env, fakeOptions) (plain, error) { return plain{}, nil })
	c := inprocess.Serve(t, plugin.Bundle{Triggers: []trigger.Type{typ}}, io.Discard)
	if _, err := inprocess.Configure(t.Context(), c, typ.Type, "main", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Trigger("trigger.plain.main").Subscribe(t.Context(), newHostStream()); !errors.Is(err,
		sdk.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if err := c.Trigger("trigger.plain.other").Subscribe(t.Context(), newHostStream()); !errors.Is(err,
		protocol.ErrUnknownInstance) {
		t.Errorf("got %v", err)
	}
	if strings.Join(typ.Capabilities, " ") != "" ||
		strings.Join(newFakes().bundle().Triggers[0].Capabilities, " ") != kind.CapStateStream {
		t.Error("the capability follow is not that of subscribers")
	}
}
