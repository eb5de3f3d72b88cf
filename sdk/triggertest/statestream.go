package triggertest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/conform"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
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
		if err := p.Client.Trigger(p.ID).Subscribe(t.Context(), &stateStream{}); !errors.Is(err, sdk.ErrUnsupported) {
			t.Errorf("Subscribe of a trigger that is no subscriber returned %v", err)
		}
		return
	}
	for name, changes := range map[string][]trigger.Change{"empty": {{All: true}}, "busy": busy()} {
		s.Sub(t, "subscribe", name, func(t *testing.T) {
			p, stop, ended := subscribed(t, s, s.Working(t), changes)
			stop()
			wantEnd(t, s, ended, context.Canceled)
			released(t, s, p)
		})
	}
	s.Sub(t, "subscribe", "release", func(t *testing.T) {
		p, _, ended := subscribed(t, s, s.Working(t), busy())
		released(t, s, p)
		wantEnd(t, s, ended, sdk.ErrUnavailable)
	})
	s.Sub(t, "subscribe", "replace", func(t *testing.T) {
		in := s.Working(t)
		p, _, ended := subscribed(t, s, in, busy())
		if _, err := inprocess.Configure(t.Context(), p.Client, s.Type, "main", in.Options); err != nil {
			t.Fatalf("configure again: %v", err)
		}
		wantEnd(t, s, ended, sdk.ErrUnavailable)
		released(t, s, p)
	})
	for _, f := range s.Failing {
		s.Sub(t, "subscribe", f.Name, func(t *testing.T) {
			p, stop, ended := subscribed(t, s, f.Make(t), nil)
			stop()
			wantEnd(t, s, ended, context.Canceled)
			released(t, s, p)
		})
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

// subscribed starts an instance that has received the changes and requests
// another one. ended gets what Subscribe returns after stop.
func subscribed(
	t *testing.T, s conform.Subject, in conform.Situation, changes []trigger.Change,
) (p *conform.Instance, stop func(), ended <-chan error) {
	t.Helper()
	p = conform.Start(t, s, in)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	state := &stateStream{changes: changes, all: make(chan struct{})}
	returned := make(chan error, 1)
	go func() { returned <- p.Client.Trigger(p.ID).Subscribe(ctx, state) }()
	select {
	case <-state.all:
	case err := <-returned:
		p.Record("error of Subscribe", text(err))
		t.Fatalf("Subscribe returned while its context lives: %v", err)
	case <-time.After(s.MaxWait()):
		t.Fatal("Subscribe does not request a change")
	}
	return p, cancel, returned
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func wantEnd(t *testing.T, s conform.Subject, ended <-chan error, want error) {
	t.Helper()
	select {
	case err := <-ended:
		if !errors.Is(err, want) {
			t.Errorf("Subscribe returned %v, want %v", err, want)
		}
	case <-time.After(s.MaxWait()):
		t.Error("Subscribe goes on")
	}
}

func released(t *testing.T, s conform.Subject, p *conform.Instance) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), s.MaxWait())
	defer stop()
	if err := p.Client.Release(ctx, p.ID); err != nil {
		t.Errorf("Subscribe goes on in the plugin after it ended: %v", err)
	}
}
