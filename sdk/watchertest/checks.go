package watchertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/conform"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func (c Case) list(t *testing.T, s conform.Subject) {
	engine := c.Working(t)
	p := conform.Start(t, s, situation(engine.Options))
	first := list(t, p)
	if len(first) != engine.Containers {
		t.Errorf("found %d containers, want %d", len(first), engine.Containers)
	}
	seen := map[string]bool{}
	for _, found := range first {
		if found.ID == "" || seen[found.ID] {
			t.Errorf("the id %q is empty or stands for two containers", found.ID)
		}
		seen[found.ID] = true
		if found.Name == "" || found.Name[0] == '/' {
			t.Errorf("container %s has the name %q", found.ID, found.Name)
		}
		if wrong := wrongLabels(found); wrong != "" {
			t.Errorf("container %s: %s", found.Name, wrong)
		}
		if found.Error != "" {
			continue
		}
		if found.Status == "" {
			t.Errorf("container %s has no status", found.Name)
		}
		if i := found.Image; i.Name == "" || i.Tag == "" && i.Digest == "" && len(i.Digests) == 0 {
			t.Errorf("container %s has an incomplete image and no error: %+v", found.Name, i)
		}
	}
	if second := list(t, p); !reflect.DeepEqual(first, second) {
		t.Errorf("listed twice, the watcher finds something else:\n%+v\n%+v", first, second)
	}
}

// wrongLabels says what is wrong with the labels that come from the image; "" for nothing.
func wrongLabels(c watcher.Container) string {
	if !slices.IsSorted(c.ImageLabels) || len(slices.Compact(slices.Clone(c.ImageLabels))) != len(c.ImageLabels) {
		return fmt.Sprintf("ImageLabels are not sorted, or have one twice: %q", c.ImageLabels)
	}
	for _, name := range c.ImageLabels {
		if _, has := c.Labels[name]; !has {
			return fmt.Sprintf("ImageLabels has %q, which is none of its Labels", name)
		}
	}
	return ""
}

func list(t *testing.T, p *conform.Instance) []watcher.Container {
	t.Helper()
	all, err := p.Client.Watcher(p.ID).List(t.Context())
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	slices.SortFunc(all, func(a, b watcher.Container) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func (c Case) watch(t *testing.T, s conform.Subject) {
	if !slices.Contains(s.Type.Capabilities, kind.CapWatch) {
		engine := c.Working(t)
		p := conform.Start(t, s, situation(engine.Options))
		err := p.Client.Watcher(p.ID).Watch(t.Context(), func(watcher.Event) {})
		if !errors.Is(err, sdk.ErrUnsupported) {
			t.Errorf("a watcher without events returned %v", err)
		}
		return
	}
	s.Sub(t, "watch", "cancel", func(t *testing.T) {
		p, stop, ended := c.watching(t, s)
		stop()
		wantEnd(t, s, "a watcher whose context ended", ended, context.Canceled)
		released(t, s, p)
	})
	s.Sub(t, "watch", "release", func(t *testing.T) {
		p, _, ended := c.watching(t, s)
		released(t, s, p)
		wantEnd(t, s, "a released instance", ended, sdk.ErrUnavailable)
	})
	s.Sub(t, "watch", "replace", func(t *testing.T) {
		p, _, ended := c.watching(t, s)
		if _, err := inprocess.Configure(t.Context(), p.Client, s.Type, "main", c.Working(t).Options); err != nil {
			t.Fatalf("configure again: %v", err)
		}
		wantEnd(t, s, "a replaced instance", ended, sdk.ErrUnavailable)
		released(t, s, p)
	})
}

// watching starts an instance that has emitted an event. ended gets what Watch returns after stop.
func (c Case) watching(t *testing.T, s conform.Subject) (p *conform.Instance, stop func(), ended <-chan error) {
	t.Helper()
	engine := c.Working(t)
	if engine.Change == nil {
		t.Fatal("say how to make an engine event happen in Engine.Change")
	}
	p = conform.Start(t, s, situation(engine.Options))
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	returned := make(chan error, 1)
	events := make(chan watcher.Event)
	go func() {
		returned <- p.Client.Watcher(p.ID).Watch(ctx, func(e watcher.Event) {
			select {
			case events <- e:
			case <-ctx.Done():
			}
		})
	}()
	go engine.Change()
	select {
	case e := <-events:
		if e.Action == "" {
			t.Errorf("the event has no action: %+v", e)
		}
	case err := <-returned:
		t.Fatalf("Watch returned instead of emitting the event: %v", err)
	case <-time.After(s.MaxWait()):
		t.Fatal("the event was not emitted")
	}
	go drain(ctx, events)
	return p, cancel, returned
}

// drain takes the events after the first, which the test does not look at.
func drain(ctx context.Context, events <-chan watcher.Event) {
	for {
		select {
		case <-events:
		case <-ctx.Done():
			return
		}
	}
}

func wantEnd(t *testing.T, s conform.Subject, what string, ended <-chan error, want error) {
	t.Helper()
	select {
	case err := <-ended:
		if !errors.Is(err, want) {
			t.Errorf("Watch of %s returned %v, want %v", what, err, want)
		}
	case <-time.After(s.MaxWait()):
		t.Errorf("Watch of %s goes on", what)
	}
}

func released(t *testing.T, s conform.Subject, p *conform.Instance) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), s.MaxWait())
	defer stop()
	if err := p.Client.Release(ctx, p.ID); err != nil {
		t.Errorf("Watch goes on in the plugin after it ended: %v", err)
	}
}
