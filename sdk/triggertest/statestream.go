package triggertest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/conform"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// stateStream sends the changes to a subscriber under test, one after the other.
type stateStream struct {
	changes []trigger.Change
	sent    int
	all     chan struct{} // closed when the subscriber requests more than there are
}

func (s *stateStream) Next(ctx context.Context) (trigger.Change, error) {
	if s.sent < len(s.changes) {
		s.sent++
		return s.changes[s.sent-1], nil
	}
	if s.sent == len(s.changes) {
		s.sent++
		close(s.all)
	}
	<-ctx.Done()
	return trigger.Change{}, ctx.Err()
}

func (s *stateStream) Run(context.Context, string, string) error {
	return errors.New("no trigger runs in this test")
}

func (c Case) subscribe(t *testing.T, s conform.Subject) {
	if !slices.Contains(s.Type.Capabilities, kind.CapStateStream) {
		p := conform.Start(t, s, s.Working(t))
		s.Offers(t, kind.CapStateStream, "a subscription", p.Client.Trigger(p.ID).Subscribe(t.Context(), &stateStream{}))
		return
	}
	stopped := func(t *testing.T, in conform.Situation, changes []trigger.Change) {
		f := subscribed(t, s, in, changes)
		f.Stop()
		f.MustEnd(context.Canceled)
		f.MustRelease()
	}
	for name, changes := range map[string][]trigger.Change{"empty": {{All: true}}, "busy": busy()} {
		s.Sub(t, "subscribe", name, func(t *testing.T) { stopped(t, s.Working(t), changes) })
	}
	s.Streams(t, "subscribe", func(t *testing.T, in conform.Situation) *conform.Stream {
		return subscribed(t, s, in, busy())
	})
	for _, f := range s.Failing {
		s.Sub(t, "subscribe", f.Name, func(t *testing.T) { stopped(t, f.Make(t), nil) })
	}
}

// busy are changes of many kinds: containers come, are renamed, made anew and go, with odd texts among them.
func busy() []trigger.Change {
	var first []sdk.Container
	for i, r := range odd() {
		if len(r.req.Containers) == 0 {
			continue
		}
		c := r.req.Containers[0]
		c.ID = "odd" + string(rune('a'+i))
		first = append(first, c)
	}
	nginx, again := Container("nginx"), Container("nginx")
	renamed := nginx
	renamed.Name = "nginx.old"
	again.ID = "again"
	idle, checking := trigger.WatcherState{Name: "local"}, trigger.WatcherState{Name: "local", Checking: true}
	return []trigger.Change{
		{All: true, Put: append(first, nginx), Watchers: []trigger.WatcherState{idle, {Name: "remote"}}},
		{
			Watchers: []trigger.WatcherState{checking},
			Operations: []trigger.OperationState{{Watcher: "local", Name: "nginx", Running: true, Percent: 40}, {
				Watcher: "remote", Name: "nosuch", Running: true, Percent: -1,
			}},
		},
		{Removed: []sdk.Container{nginx}, Put: []sdk.Container{renamed, again}},
		{
			Removed: first, Watchers: []trigger.WatcherState{idle},
			Operations: []trigger.OperationState{{Watcher: "local", Name: "nginx"}},
		},
		{Removed: []sdk.Container{renamed, again}},
	}
}

// subscribed starts an instance that has received the changes and requests another one.
func subscribed(t *testing.T, s conform.Subject, in conform.Situation, changes []trigger.Change) *conform.Stream {
	t.Helper()
	p := conform.Start(t, s, in)
	state := &stateStream{changes: changes, all: make(chan struct{})}
	readiness := conform.Readiness{
		Ready: state.all, Early: "Subscribe returned while its context lives", Late: "Subscribe does not request a change",
	}
	return p.Follow(s, "Subscribe", readiness, func(ctx context.Context) error {
		return p.Client.Trigger(p.ID).Subscribe(ctx, state)
	})
}
