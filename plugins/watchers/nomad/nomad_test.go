package nomad_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/nomad"
	"github.com/dogwatch/dogwatch/plugins/watchers/nomad/nomadtest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func job(namespace, id, image string) string {
	return fmt.Sprintf(`{"ID": %q, "Namespace": %q, "Type": "service", "SubmitTime": 1764324000000000000, "TaskGroups": [
		{"Name": %[1]q, "Tasks": [{"Name": %[1]q, "Driver": "docker", "Config": {"image": %[3]q}}]}]}`, id, namespace, image)
}

func list(t *testing.T, options map[string]any) []watcher.Container {
	t.Helper()
	found, err := plugintest.Watcher(t, nomad.Type(), options).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTasksAreContainers(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	s := nomadtest.New(t)
	s.Put(t, `{"ID": "shop", "Namespace": "default", "SubmitTime": 1764324000000000000,
		"Meta": {"dogwatch.tag.include": "job", "dogwatch.display.name": "job", "wud.watch": "job", "password": "hidden"},
		"TaskGroups": [{"Name": "web", "Meta": {"dogwatch.tag.include": "group", "dogwatch.display.name": "group"}, "Tasks": [
			{"Name": "web", "Driver": "docker", "Meta": {"dogwatch.tag.include": "task"}, "Config": {"image": "nginx:1.27"}},
			{"Name": "cache", "Driver": "podman", "Config": {"image": "docker://docker.io/library/redis:7"}},
			{"Name": "pinned", "Driver": "docker", "Config": {"image": "ghcr.io/a/b:1@`+digest+`"}},
			{"Name": "variable", "Driver": "docker", "Config": {"image": "nginx:${NOMAD_META_version}"}},
			{"Name": "script", "Driver": "exec", "Config": {"image": "none:1"}},
			{"Name": "odd", "Driver": "docker", "Config": {"image": ["a"]}}]}]}`)
	s.Put(t, `{"ID": "stopped", "Namespace": "default", "Stop": true, "TaskGroups": [
		{"Name": "stopped", "Tasks": [{"Name": "stopped", "Driver": "docker", "Config": {"image": "nginx"}}]}]}`)
	s.Put(t, strings.Replace(job("default", "shop/dispatch-1", "nginx:1"), `"Type"`, `"ParentID": "shop", "Type"`, 1))
	s.Put(t, job("default", "team/app", "nginx:1"))
	s.Put(t, job("other", "hidden", "nginx:1"))
	var got []string
	for _, c := range list(t, options(s.URL)) {
		got = append(got, fmt.Sprintf("%s %s %s %s/%s:%s %.9s pinned=%v error=%v", c.ID, c.Name, c.Status,
			c.Image.Host, c.Image.Name, c.Image.Tag, c.Image.Digest, c.Image.Pinned, c.Error != ""))
		if c.ID == "default_shop_web_web" {
			want := map[string]string{"dogwatch.tag.include": "task", "dogwatch.display.name": "group", "wud.watch": "job"}
			if !maps.Equal(c.Labels, want) {
				t.Errorf("the labels are %v, want %v", c.Labels, want)
			}
		}
		if strings.Contains(c.ID, "variable") && !strings.Contains(c.Error, "HCL") {
			t.Errorf("a variable of an image is not explained: %s", c.Error)
		}
	}
	want := []string{
		"default_shop_web_cache default_shop_web_cache running docker.io/library/redis:7  pinned=false error=false",
		"default_shop_web_pinned default_shop_web_pinned running ghcr.io/a/b:1 sha256:aa pinned=true error=false",
		"default_shop_web_variable default_shop_web_variable running /nginx:${NOMAD_META_version}:  pinned=false error=true",
		"default_shop_web_web default_shop_web running /nginx:1.27  pinned=false error=false",
		"default_stopped_stopped_stopped default_stopped dead /nginx:latest  pinned=false error=false",
		"default_team/app_team/app_team/app default_team/app running /nginx:1  pinned=false error=false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestIDsAreUniqueAndStable(t *testing.T) {
	s := nomadtest.New(t)
	of := func(id, group string) string {
		return strings.Replace(job("default", id, "nginx"), fmt.Sprintf(`{"Name": %q, "Tasks"`, id), fmt.Sprintf(`{"Name": %q, "Tasks"`, group), 1)
	}
	s.Put(t, strings.Replace(of("a_b", "c"), `[{"Name": "a_b"`, `[{"Name": "t"`, 1))
	s.Put(t, strings.Replace(of("a", "b_c"), `[{"Name": "a"`, `[{"Name": "t"`, 1))
	first, second := list(t, options(s.URL)), list(t, options(s.URL))
	if len(first) != 2 || first[0].ID == first[1].ID || first[0].ID != second[0].ID || first[0].Name == first[1].Name {
		t.Errorf("got %+v, then %+v", first, second)
	}
}

func TestNamespacesRegionAndPages(t *testing.T) {
	s := nomadtest.New(t)
	for i := range 501 {
		s.Put(t, job("media", fmt.Sprintf("job%d", i), "nginx:1"))
	}
	s.Put(t, job("web", "front", "nginx:1"))
	s.Put(t, job("default", "none", "nginx:1"))
	for namespaces, want := range map[string]int{"media,web": 502, "*": 503, "web": 1} {
		o := options(s.URL)
		o["namespaces"], o["region"] = namespaces, "eu"
		if got := len(list(t, o)); got != want {
			t.Errorf("%s: got %d containers, want %d", namespaces, got, want)
		}
	}
	for _, r := range s.Requests() {
		if !strings.Contains(r, "region=eu") {
			t.Fatalf("%s has no region", r)
		}
	}
}

func TestDenialsNameTheCapability(t *testing.T) {
	for name, c := range map[string]struct {
		path, text, token string
		remedy            []string
	}{
		"list":    {"/v1/jobs", "Permission denied", token, []string{`"list-jobs"`, `"media"`}},
		"read":    {"/v1/job/web", "Permission denied", token, []string{`"read-job"`, `"media"`}},
		"unknown": {"/v1/jobs", "ACL token not found", token, []string{"nomad acl token create", "run dogwatch reload"}},
		"expired": {"/v1/jobs", "ACL token expired", token, []string{"nomad acl token create", "run dogwatch reload"}},
		"none":    {"/v1/jobs", "Permission denied", "", []string{"set token", `"list-jobs"`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := nomadtest.New(t)
			s.Put(t, job("media", "web", "nginx:1"))
			s.Deny(c.path, c.text)
			o := map[string]any{"url": s.URL, "namespaces": "media", "token": c.token}
			_, err := plugintest.Watcher(t, nomad.Type(), o).List(t.Context())
			if !errors.Is(err, sdk.ErrUnauthorized) {
				t.Fatalf("got %v, want an error of authorization", err)
			}
			for _, part := range c.remedy {
				if !strings.Contains(sdk.Remedy(err), part) {
					t.Errorf("the remedy %q does not name %s", sdk.Remedy(err), part)
				}
			}
			if strings.Contains(err.Error()+sdk.Remedy(err), token) {
				t.Errorf("the token shows: %v", err)
			}
		})
	}
}

// watch starts to watch, and returns a function that waits for an event.
func watch(t *testing.T, w plugintest.WatcherInstance) (next func() watcher.Event) {
	t.Helper()
	events := make(chan watcher.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.Watch(ctx, func(e watcher.Event) { events <- e })
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return func() watcher.Event {
		t.Helper()
		select {
		case e := <-events:
			return e
		case <-time.After(20 * time.Second):
			t.Fatal("no event came")
			return watcher.Event{}
		}
	}
}

// awaitImage lists until the first container has a tag.
func awaitTag(t *testing.T, w plugintest.WatcherInstance, next func() watcher.Event, tag string) {
	t.Helper()
	for {
		if e := next(); e.Action != watcher.ActionChanged {
			continue
		}
		found, err := w.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 && found[0].Image.Tag == tag {
			return
		}
	}
}

func TestChangesComeWithTheStream(t *testing.T) {
	s := nomadtest.New(t)
	s.Put(t, job("default", "web", "nginx:1"))
	w := plugintest.Watcher(t, nomad.Type(), options(s.URL))
	next := watch(t, w)
	s.AwaitStreams(t, 1)
	if _, err := w.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Put(t, job("default", "web", "nginx:2"))
	awaitTag(t, w, next, "2")
	before := len(s.Requests())
	if _, err := w.List(t.Context()); err != nil || len(s.Requests()) != before {
		t.Errorf("a list while the jobs are followed costs %d requests (%v)", len(s.Requests())-before, err)
	}
	s.Allocate("default/web", "dead", "failed")
	if e := next(); e.Action != watcher.ActionStatus || e.Status != "dead" || e.ContainerID != "default_web_web_web" {
		t.Errorf("got %+v, want that the job is dead", e)
	}
	s.Remove("default/web")
	if e := next(); e.Action != watcher.ActionChanged {
		t.Errorf("got %+v, want a change", e)
	}
	if found, err := w.List(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("got %v, %v after the job was removed", found, err)
	}
}

func TestLostEventsAreFound(t *testing.T) {
	s := nomadtest.New(t)
	s.Put(t, job("default", "web", "nginx:1"))
	s.Put(t, job("default", "zzz", "nginx:1"))
	w := plugintest.Watcher(t, nomad.Type(), options(s.URL))
	next := watch(t, w)
	s.AwaitStreams(t, 1)
	for asked := -1; asked != len(s.Requests()); { // until the jobs are followed, and a list costs nothing
		asked = len(s.Requests())
		if _, err := w.List(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.Deny("/v1/event/stream", "")
	s.CutStreams()
	s.AwaitStreams(t, 0)
	before := len(s.Requests())
	s.Put(t, job("default", "web", "nginx:2"))
	s.Forget()
	awaitTag(t, w, next, "2")
	for _, r := range s.Requests()[before:] {
		if strings.HasPrefix(r, "/v1/job/zzz") {
			t.Errorf("a job that has not changed was read again: %s", r)
		}
	}
}

func TestWithoutTheStreamQueriesBlock(t *testing.T) {
	s := nomadtest.New(t)
	s.Deny("/v1/event/stream", "Permission denied")
	s.Put(t, job("default", "web", "nginx:1"))
	o := options(s.URL)
	o["namespaces"] = "*"
	w := plugintest.Watcher(t, nomad.Type(), o)
	next := watch(t, w)
	s.AwaitRequest(t, "wait=5m0s")
	if _, err := w.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(s.Requests())
	s.Put(t, job("default", "web", "nginx:2"))
	awaitTag(t, w, next, "2")
	if n := len(s.Requests()) - before; n > 3 {
		t.Errorf("a change cost %d requests: %v", n, s.Requests()[before:])
	}
	result, err := w.Probe(t.Context(), sdk.ProbeRequest{})
	if err != nil || !strings.Contains(fmt.Sprint(result.Warnings), "blocking queries") {
		t.Errorf("got %+v, %v: want a warning of the events", result, err)
	}
}
