package statestream

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// fakeState is containers with an event log, as the store is.
type fakeState struct {
	bus event.Bus

	mu         sync.Mutex
	containers map[string]*sdk.Container
	events     []event.Event
	broken     error
	operations []trigger.OperationState
	ran        []string
}

func newFakeState() *fakeState { return &fakeState{containers: map[string]*sdk.Container{}} }

func (p *fakeState) options(log io.Writer) Options {
	return Options{
		Containers: p.all, Watchers: func() []string { return []string{"local", "remote"} }, Operations: p.underWay,
		Events: p, Bus: &p.bus,
		Run: p.run, Log: hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Debug}),
	}
}

func (p *fakeState) all() []*sdk.Container {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*sdk.Container
	for _, c := range p.containers {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *sdk.Container) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func (p *fakeState) LastEvent(context.Context) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(len(p.events)), p.broken
}

func (p *fakeState) Events(_ context.Context, after int64, limit int) ([]event.Event, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	page := p.events[after:]
	return slices.Clone(page[:min(limit, len(page))]), p.broken
}

func (p *fakeState) underWay() []trigger.OperationState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.operations
}

// progress replaces the operations under way.
func (p *fakeState) progress(all ...trigger.OperationState) {
	p.mu.Lock()
	p.operations = all
	p.mu.Unlock()
	p.bus.Touch(event.OperationProgressed)
}

func (p *fakeState) run(_ context.Context, _, triggerID, containerID string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ran = append(p.ran, triggerID+" "+containerID)
	if containerID == "nosuch" {
		return sdk.ErrNotFound
	}
	return nil
}

// change changes the containers and wakes the readers of the log.
func (p *fakeState) change(do func(map[string]*sdk.Container)) {
	p.mu.Lock()
	do(p.containers)
	p.mu.Unlock()
	p.bus.Wake()
}

func (p *fakeState) put(cs ...sdk.Container) {
	p.change(func(all map[string]*sdk.Container) {
		for _, c := range cs {
			all[c.ID] = &c
		}
	})
}

func (p *fakeState) remove(ids ...string) {
	p.change(func(all map[string]*sdk.Container) {
		for _, id := range ids {
			delete(all, id)
		}
	})
}

func (p *fakeState) log(t event.Type, watcher string, single bool) {
	p.mu.Lock()
	p.events = append(p.events, event.Event{
		ID: int64(len(p.events) + 1), Type: t, Payload: event.Payload{Check: &event.Check{Watcher: watcher, Single: single}},
	})
	p.mu.Unlock()
	p.bus.Wake()
}

func container(id, name string) sdk.Container {
	return sdk.Container{ID: id, Name: name, Watcher: "local"}
}

// fakeSubscriber is a subscriber that a test steps through: each take requests a change.
type fakeSubscriber struct {
	take  chan chan trigger.Change
	calls chan trigger.StateStream
	end   chan error
}

func newFakeSubscriber() *fakeSubscriber {
	return &fakeSubscriber{
		take: make(chan chan trigger.Change), calls: make(chan trigger.StateStream, 10), end: make(chan error),
	}
}

func (r *fakeSubscriber) subscriber() Subscriber {
	return Subscriber{ID: "mqtt.main", MayRun: true, Usable: func() bool { return true }, Subscribe: r.subscribe}
}

func (r *fakeSubscriber) subscribe(ctx context.Context, w trigger.StateStream) error {
	r.calls <- w
	for {
		select {
		case to := <-r.take:
			c, err := w.Next(ctx)
			if err != nil {
				return err
			}
			to <- c
		case err := <-r.end:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// next requests the next change and returns where it will arrive.
func (r *fakeSubscriber) next() <-chan trigger.Change {
	to := make(chan trigger.Change, 1)
	r.take <- to
	return to
}

// summary writes a change as a line of text.
func summary(c trigger.Change) string {
	var parts []string
	if c.All {
		parts = append(parts, "all")
	}
	list := func(sign string, all []sdk.Container) {
		var names []string
		for _, is := range all {
			names = append(names, sign+is.ID+":"+is.Name)
		}
		slices.Sort(names)
		parts = append(parts, names...)
	}
	list("-", c.Removed)
	list("+", c.Put)
	for _, w := range c.Watchers {
		parts = append(parts, fmt.Sprintf("%s=%v", w.Name, w.Checking))
	}
	for _, o := range c.Operations {
		parts = append(parts, fmt.Sprintf("%s/%s:%v %d", o.Watcher, o.Name, o.Running, o.Percent))
	}
	return strings.Join(parts, " ")
}

// streaming runs a hub with one subscriber in a bubble.
func streaming(t *testing.T, p *fakeState, test func(r *fakeSubscriber, log *strings.Builder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		h, err := New(t.Context(), p.options(&log))
		if err != nil {
			t.Fatal(err)
		}
		r := newFakeSubscriber()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- h.Run(ctx, func(context.Context) []Subscriber { return []Subscriber{r.subscriber()} })
		}()
		test(r, &log)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func want(t *testing.T, got <-chan trigger.Change, line string) {
	t.Helper()
	synctest.Wait()
	select {
	case c := <-got:
		if summary(c) != line {
			t.Errorf("got %q, want %q", summary(c), line)
		}
	default:
		t.Errorf("got nothing, want %q", line)
	}
}

func wantNothing(t *testing.T, got <-chan trigger.Change) {
	t.Helper()
	synctest.Wait()
	select {
	case c := <-got:
		t.Errorf("got %q, want nothing", summary(c))
	default:
	}
}
