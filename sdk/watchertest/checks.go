package watchertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/conform"
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

func (c Case) log(t *testing.T, s conform.Subject) {
	engine := c.Working(t)
	p := conform.Start(t, s, situation(engine.Options))
	client := p.Client.Watcher(p.ID)
	_, err := client.ReadLog(t.Context(), watcher.LogRequest{ContainerID: "no such container", Lines: 3})
	if !s.Offers(t, kind.CapLogs, "a log", err) {
		return
	}
	if !errors.Is(err, sdk.ErrNotFound) {
		t.Errorf("the log of a container that does not exist: got %v, want an sdk.ErrNotFound", err)
	}
	for _, found := range list(t, p) {
		got, err := client.ReadLog(t.Context(), watcher.LogRequest{ContainerID: found.ID, Lines: 3})
		if err != nil {
			t.Fatalf("the log of container %s: %v", found.Name, err)
		}
		if wrong := wrongLog(got, 3); wrong != "" {
			t.Errorf("the log of container %s %s", found.Name, wrong)
		}
	}
}

// wrongLog says what is wrong with a log of which at most most lines were asked for; "" for nothing.
func wrongLog(l watcher.Log, most int) string {
	if len(l.Lines) > most {
		return fmt.Sprintf("has %d lines, and %d were asked for", len(l.Lines), most)
	}
	if l.UnreadableDriver != "" && len(l.Lines) > 0 {
		return fmt.Sprintf("has lines although its driver %q cannot be read", l.UnreadableDriver)
	}
	for _, line := range l.Lines {
		if strings.ContainsFunc(line.Text, unicode.IsControl) {
			return fmt.Sprintf("has a line with control characters: %q", line.Text)
		}
	}
	return ""
}

func (c Case) watch(t *testing.T, s conform.Subject) {
	if !slices.Contains(s.Type.Capabilities, kind.CapWatch) {
		p := conform.Start(t, s, s.Working(t))
		s.Offers(t, kind.CapWatch, "its events", p.Client.Watcher(p.ID).Watch(t.Context(), func(watcher.Event) {}))
		return
	}
	s.Sub(t, "watch", "cancel", func(t *testing.T) {
		f := c.watching(t, s)
		f.Stop()
		f.MustEnd(context.Canceled)
		f.MustRelease()
	})
	s.Streams(t, "watch", func(t *testing.T, _ conform.Situation) *conform.Stream { return c.watching(t, s) })
}

// watching starts an instance that has emitted an event. It takes the events after the first without a look.
func (c Case) watching(t *testing.T, s conform.Subject) *conform.Stream {
	t.Helper()
	engine := c.Working(t)
	if engine.Change == nil {
		t.Fatal("say how to make an engine event happen in Engine.Change")
	}
	p := conform.Start(t, s, situation(engine.Options))
	emitted := make(chan struct{})
	var first sync.Once
	go engine.Change()
	readiness := conform.Readiness{
		Ready: emitted, Early: "Watch returned instead of emitting the event", Late: "the event was not emitted",
	}
	return p.Follow(s, "Watch", readiness, func(ctx context.Context) error {
		return p.Client.Watcher(p.ID).Watch(ctx, func(e watcher.Event) {
			first.Do(func() {
				if e.Action == "" {
					t.Errorf("the event has no action: %+v", e)
				}
				close(emitted)
			})
		})
	})
}
