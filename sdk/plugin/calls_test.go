package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func manyListed(n int) []watcher.Container {
	all := make([]watcher.Container, n)
	for i, c := range manyContainers(n) {
		all[i] = watcher.Container{ID: c.ID, Name: c.Name, Labels: c.Labels}
	}
	return all
}

func manyContainers(n int) []sdk.Container {
	all := make([]sdk.Container, n)
	for i := range all {
		all[i] = sdk.Container{ID: fmt.Sprint(i), Name: "c", Labels: map[string]string{"l": strings.Repeat("x", 10_000)}}
	}
	return all
}

func TestListPages(t *testing.T) {
	f := newFakes()
	c := inprocess.Serve(t, f.bundle(), io.Discard)
	configure(t, c, kind.Watcher, "fakewatcher", "")
	w := c.Watcher("watcher.fakewatcher.main")
	for _, n := range []int{0, 1, 1000} {
		want := manyListed(n)
		f.list = func(context.Context) ([]watcher.Container, error) { return want, nil }
		got, err := w.List(t.Context())
		if err != nil || len(got) != n || n > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%d containers: got %d, %v", n, len(got), err)
		}
	}
	f.list = func(context.Context) ([]watcher.Container, error) { return manyListed(1), sdk.ErrUnauthorized }
	if got, err := w.List(t.Context()); got != nil || !errors.Is(err, sdk.ErrUnauthorized) {
		t.Errorf("got %v, %v", got, err)
	}
}

// One label that is no text must not hide all containers.
func TestListReplacesInvalidUTF8(t *testing.T) {
	f := newFakes()
	f.list = func(context.Context) ([]watcher.Container, error) {
		return []watcher.Container{{
			Name:   "caf\xe9",
			Labels: map[string]string{"a\xff": "b\xff", "ok": "ü"},
			Image:  watcher.Image{Name: "\xfe", Digests: []string{"x\xff"}},
		}}, nil
	}
	c := inprocess.Serve(t, f.bundle(), io.Discard)
	configure(t, c, kind.Watcher, "fakewatcher", "")
	got, err := c.Watcher("watcher.fakewatcher.main").List(t.Context())
	want := []watcher.Container{{
		Name:   "caf\uFFFD",
		Labels: map[string]string{"a\uFFFD": "b\uFFFD", "ok": "ü"},
		Image:  watcher.Image{Name: "\uFFFD", Digests: []string{"x\uFFFD"}},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTagsPages(t *testing.T) {
	f := newFakes()
	c := inprocess.Serve(t, f.bundle(), io.Discard)
	configure(t, c, kind.Registry, "fakeregistry", "")
	r := c.Registry("registry.fakeregistry.main")
	repo := registry.Repository{
		Host: "docker.io", Name: "library/nginx", ScopeHints: []string{"library/nginx", "library/redis"},
	}
	for _, n := range []int{0, 1, 100_000} {
		var want []string
		for i := range n {
			want = append(want, fmt.Sprintf("1.%d.0-alpine", i))
		}
		f.tags = func(_ context.Context, got registry.Repository, validator string) (registry.TagList, error) {
			if !reflect.DeepEqual(got, repo) || validator != "before" {
				return registry.TagList{}, fmt.Errorf("asked for %+v with %q", got, validator)
			}
			return registry.TagList{Tags: want, Validator: "now", NotModified: n == 0}, nil
		}
		got, err := r.Tags(t.Context(), repo, "before")
		if err != nil || !slices.Equal(got.Tags, want) || got.Validator != "now" || got.NotModified != (n == 0) {
			t.Errorf("%d tags: got %d, %q, %t, %v", n, len(got.Tags), got.Validator, got.NotModified, err)
		}
	}
}

func TestRegistryCalls(t *testing.T) {
	f := newFakes()
	c := inprocess.Serve(t, f.bundle(), io.Discard)
	configure(t, c, kind.Registry, "fakeregistry", "")
	r := c.Registry("registry.fakeregistry.main")
	repo := registry.Repository{Host: "ghcr.io", Name: "a/b"}
	if got, err := r.Resolve(t.Context(), repo, "1"); err != nil || got != "ghcr.io/a/b:1" {
		t.Errorf("resolve: got %q, %v", got, err)
	}
	platform := sdk.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}
	if got, err := r.Manifest(t.Context(), repo, "sha256:1", platform); err != nil || got.Digest != "sha256:1" ||
		got.Config != "linux/arm/v7" {
		t.Errorf("manifest: got %+v, %v", got, err)
	}
	if _, err := r.Credentials(t.Context(), repo); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("credentials of a registry without: %v", err)
	}
	if _, err := r.ImageConfig(t.Context(), repo, "sha256:1", platform); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("configuration by a registry that reads none: %v", err)
	}
	if _, err := r.DescribeTags(t.Context(), repo, "1", platform); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("tags described by a registry that describes none: %v", err)
	}
	if _, err := r.Limits(t.Context()); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("limits of a registry that knows none: %v", err)
	}
}

func TestWatchKeepsOrderOfEvents(t *testing.T) {
	f := newFakes()
	f.watch = func(_ context.Context, emit func(watcher.Event)) error {
		for i := range 1000 {
			emit(watcher.Event{ContainerID: fmt.Sprint(i), Action: watcher.ActionStatus, Status: "running"})
		}
		return nil // an engine without events
	}
	c := inprocess.Serve(t, f.bundle(), io.Discard)
	configure(t, c, kind.Watcher, "fakewatcher", "")
	next := 0
	err := c.Watcher("watcher.fakewatcher.main").Watch(t.Context(), func(e watcher.Event) {
		if e.ContainerID != fmt.Sprint(next) {
			t.Errorf("event %s came as number %d", e.ContainerID, next)
		}
		next++
	})
	if err != nil || next != 1000 {
		t.Errorf("%d events, %v", next, err)
	}
}

// More than the 4 MiB that gRPC servers take by default.
func TestRunAcceptsLargeBatch(t *testing.T) {
	f := newFakes()
	f.run = func(_ context.Context, _ *fake, req trigger.Request) error {
		if len(req.Containers) != 1000 || !req.Batch || req.Engines["local"].Options["timeout"] != "1m30s" {
			return fmt.Errorf("got %d containers", len(req.Containers))
		}
		return nil
	}
	c, _ := f.serve(t)
	req := trigger.Request{Batch: true, Containers: manyContainers(1000), Engines: map[string]trigger.Engine{
		"local": {Type: "docker", Options: map[string]any{"timeout": "1m30s"}},
	}}
	if err := c.Trigger(mainTrigger).Run(t.Context(), req); err != nil {
		t.Error(err)
	}
}

// Progress may be reported by many goroutines, even by one that the call left behind.
func TestRunReportsProgressConcurrently(t *testing.T) {
	f := newFakes()
	late := make(chan trigger.Request, 1)
	f.run = func(_ context.Context, _ *fake, req trigger.Request) error {
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() { req.Report(trigger.Progress{ContainerID: "c", Current: int64(i), Total: math.MaxInt64}) })
		}
		all.Wait()
		late <- req
		return sdk.ErrUnavailable
	}
	c, _ := f.serve(t)
	var steps []int64
	req := trigger.Request{}.WithReport(func(p trigger.Progress) { steps = append(steps, p.Current) })
	if err := c.Trigger(mainTrigger).Run(t.Context(), req); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	(<-late).Report(trigger.Progress{Current: -1})
	slices.Sort(steps)
	if len(steps) != 50 || steps[0] != 0 || steps[49] != 49 {
		t.Errorf("got the steps %v", steps)
	}
}

func BenchmarkCalls(b *testing.B) {
	f := newFakes()
	tags := make([]string, 1000)
	for i := range tags {
		tags[i] = fmt.Sprintf("1.%d.0-alpine", i)
	}
	f.tags = func(context.Context, registry.Repository, string) (registry.TagList, error) {
		return registry.TagList{Tags: tags}, nil
	}
	f.list = func(context.Context) ([]watcher.Container, error) {
		all := make([]watcher.Container, 200)
		for i := range all {
			all[i] = watcher.Container{
				ID: fmt.Sprint(i), Name: "nginx", Labels: map[string]string{"a": "b", "c": "d"},
				Image: watcher.Image{Name: "library/nginx"},
			}
		}
		return all, nil
	}
	c := inprocess.Serve(b, f.bundle(), io.Discard)
	for _, i := range []struct {
		kind kind.Kind
		typ  string
	}{{kind.Registry, "fakeregistry"}, {kind.Watcher, "fakewatcher"}} {
		if _, err := inprocess.Configure(b.Context(), c, kind.Type{Kind: i.kind, Name: i.typ}, "main", nil); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("resolve", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Registry("registry.fakeregistry.main").Resolve(b.Context(), registry.Repository{}, "1"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("1000 tags", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Registry("registry.fakeregistry.main").Tags(b.Context(), registry.Repository{}, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("200 containers", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Watcher("watcher.fakewatcher.main").List(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
