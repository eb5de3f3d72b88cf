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

// world is what a follower under test is told: the changes, one after the other.
type world struct {
	changes []trigger.Change
	told    int
	all     chan struct{} // closed when it asks for more than there is
}

func (w *world) Next(ctx context.Context) (trigger.Change, error) {
	if w.told < len(w.changes) {
		w.told++
		return w.changes[w.told-1], nil
	}
	if w.told == len(w.changes) {
		w.told++
		close(w.all)
	}
	<-ctx.Done()
	return trigger.Change{}, ctx.Err()
}

func (w *world) Run(context.Context, string, string) error {
	return errors.New("no trigger runs in this test")
}

func (c Case) follow(t *testing.T, s conform.Subject) {
	if !slices.Contains(s.Type.Capabilities, kind.CapStateStream) {
		p := conform.Start(t, s, s.Working(t))
		if err := p.Client.Trigger(p.ID).Subscribe(t.Context(), &world{}); !errors.Is(err, sdk.ErrUnsupported) {
			t.Errorf("Follow of a trigger that does not follow returned %v", err)
		}
		return
	}
	for name, changes := range map[string][]trigger.Change{"empty": {{All: true}}, "busy": busy()} {
		s.Sub(t, "follow", name, func(t *testing.T) {
			p, stop, ended := following(t, s, s.Working(t), changes)
			stop()
			wantEnd(t, s, ended, context.Canceled)
			released(t, s, p)
		})
	}
	s.Sub(t, "follow", "release", func(t *testing.T) {
		p, _, ended := following(t, s, s.Working(t), busy())
		released(t, s, p)
		wantEnd(t, s, ended, sdk.ErrUnavailable)
	})
	s.Sub(t, "follow", "replace", func(t *testing.T) {
		in := s.Working(t)
		p, _, ended := following(t, s, in, busy())
		if _, err := inprocess.Configure(t.Context(), p.Client, s.Type, "main", in.Options); err != nil {
			t.Fatalf("configure again: %v", err)
		}
		wantEnd(t, s, ended, sdk.ErrUnavailable)
		released(t, s, p)
	})
	for _, f := range s.Failing {
		s.Sub(t, "follow", f.Name, func(t *testing.T) {
			p, stop, ended := following(t, s, f.Make(t), nil)
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
		{Watchers: []trigger.WatcherState{checking}},
		{Removed: []sdk.Container{nginx}, Put: []sdk.Container{renamed, again}},
		{Removed: first, Watchers: []trigger.WatcherState{idle}},
		{Removed: []sdk.Container{renamed, again}},
	}
}

// following starts an instance that has been told of the changes and wants to
// know more. ended gets what Follow returns after stop.
func following(t *testing.T, s conform.Subject, in conform.Situation, changes []trigger.Change) (p *conform.Probe, stop func(), ended <-chan error) {
	t.Helper()
	p = conform.Start(t, s, in)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	w := &world{changes: changes, all: make(chan struct{})}
	returned := make(chan error, 1)
	go func() { returned <- p.Client.Trigger(p.ID).Subscribe(ctx, w) }()
	select {
	case <-w.all:
	case err := <-returned:
		p.Hear("error of Follow", text(err))
		t.Fatalf("Follow returned while its context lives: %v", err)
	case <-time.After(s.Soon()):
		t.Fatal("Follow does not ask for what changes")
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
			t.Errorf("Follow returned %v, want %v", err, want)
		}
	case <-time.After(s.Soon()):
		t.Error("Follow goes on")
	}
}

func released(t *testing.T, s conform.Subject, p *conform.Probe) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), s.Soon())
	defer stop()
	if err := p.Client.Release(ctx, p.ID); err != nil {
		t.Errorf("Follow goes on in the plugin after it ended: %v", err)
	}
}
