package kubernetes_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// resources is how many watches a watcher without options has.
const resources = 5

// follow starts Watch and returns its events.
func follow(t *testing.T, w plugintest.WatcherInstance) <-chan watcher.Event {
	t.Helper()
	events := make(chan watcher.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Watch(ctx, func(e watcher.Event) { events <- e }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Watch returned %v", err)
		}
	})
	return events
}

func next(t *testing.T, events <-chan watcher.Event, what string) watcher.Event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(20 * time.Second):
		t.Fatalf("no event: %s", what)
		return watcher.Event{}
	}
}

func mustList(t *testing.T, w plugintest.WatcherInstance) []watcher.Container {
	t.Helper()
	all, err := w.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// listFromMemory waits until a list costs no request.
func listFromMemory(t *testing.T, s *server, w plugintest.WatcherInstance) []watcher.Container {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		before := s.count("list ")
		all := mustList(t, w)
		if s.count("list ") == before {
			return all
		}
		if time.Now().After(deadline) {
			t.Fatal("lists still cost requests")
		}
	}
}

func TestWatchTellsWhatChanges(t *testing.T) {
	s := newServer(t)
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	w := watching(t, s, nil)
	events := follow(t, w)
	s.awaitStreams(t, resources)
	listFromMemory(t, s, w)
	lists := s.count("list ")

	changes := []struct {
		what   string
		change func()
		want   watcher.Event
		check  func(all []watcher.Container) bool
	}{
		{"an image", func() { s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.28")) },
			watcher.Event{Action: watcher.ActionChanged},
			func(all []watcher.Container) bool { return all[0].Image.Tag == "1.28" }},
		{"a status", func() { s.put(t, deployment("media", "web", `"replicas": 3`, "nginx:1.28")) },
			watcher.Event{Action: watcher.ActionStatus, ContainerID: "media_deployment_web_web", Status: "running 1/3"},
			func(all []watcher.Container) bool { return all[0].Status == "running 1/3" }},
		{"a digest", func() { s.put(t, pod("media", "web-1-x", "ReplicaSet/web-1", "nginx:1.28", "nginx@"+digestA)) },
			watcher.Event{Action: watcher.ActionChanged},
			func(all []watcher.Container) bool { return all[0].Image.Digest == digestA }},
		{"a new workload", func() { s.put(t, workload("CronJob", "media", "job", "", "", "", "", "a:1")) },
			watcher.Event{Action: watcher.ActionChanged}, func(all []watcher.Container) bool { return len(all) == 2 }},
		{"an annotation", func() {
			s.put(t, workload("CronJob", "media", "job", `"annotations": {"dogwatch/watch": "false"}`, "", "", "", "a:1"))
		}, watcher.Event{Action: watcher.ActionChanged},
			func(all []watcher.Container) bool { return all[0].Labels["dogwatch.watch"] == "false" }},
		{"a removal", func() { s.remove("CronJob", "media/job") },
			watcher.Event{Action: watcher.ActionChanged}, func(all []watcher.Container) bool { return len(all) == 1 }},
	}
	for _, c := range changes {
		c.change()
		got := next(t, events, c.what)
		got.At = sdk.Time{}
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.what, got, c.want)
		}
		if all := mustList(t, w); !c.check(all) {
			t.Errorf("%s: listed %+v", c.what, all)
		}
	}
	// The nodes are listed once for the pod.
	if n := s.count("list ") - lists - s.count("list /api/v1/nodes"); n != 0 {
		t.Errorf("%d more lists were requested", n)
	}
}

// TestWatchIsQuiet: what does not concern a row is no event.
func TestWatchIsQuiet(t *testing.T) {
	s := newServer(t)
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	w := watching(t, s, nil)
	events := follow(t, w)
	s.awaitStreams(t, resources)
	listFromMemory(t, s, w)
	s.put(t, workload("Deployment", "media", "web", `"generation": 7`, `"replicas": 1, "paused": true`, `"readyReplicas": 1`, "", "nginx:1.27"))
	s.put(t, pod("other", "x-1-x", "ReplicaSet/x-1", "busybox", "")) // of no workload
	s.put(t, deployment("media", "web", `"replicas": 2`, "nginx:1.27"))
	if got := next(t, events, "the status"); got.Action != watcher.ActionStatus || got.Status != "running 1/2" {
		t.Errorf("got %+v", got)
	}
}

func TestWatchGoesOnWhereItWas(t *testing.T) {
	s := newServer(t)
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	w := watching(t, s, nil)
	events := follow(t, w)
	s.awaitStreams(t, resources)
	listFromMemory(t, s, w)
	lists, watches := s.count("list "), s.count("watch ")
	s.cutStreams()
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.28")) // while nobody watches
	next(t, events, "what happened between two streams")
	s.awaitStreams(t, resources)
	if n := s.count("list ") - lists; n != 0 {
		t.Errorf("a stream that ended cost %d lists", n)
	}
	if n := s.count("watch ") - watches; n != resources {
		t.Errorf("%d streams were requested, want %d", n, resources)
	}
}

// TestWatchListsAgain: the server does not remember what comes next.
func TestWatchListsAgain(t *testing.T) {
	s := newServer(t)
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	s.put(t, deployment("media", "gone", `"replicas": 1`, "nginx:1.27"))
	w := watching(t, s, nil)
	events := follow(t, w)
	s.awaitStreams(t, resources)
	listFromMemory(t, s, w)
	s.refuse("watch", "/apis/apps/v1/deployments", 503, "")
	s.cutStreams()
	if got := next(t, events, "the outage"); got.Action != watcher.ActionChanged {
		t.Errorf("got %+v", got)
	}
	s.remove("Deployment", "media/gone")
	s.forget()
	s.refuse("watch", "/apis/apps/v1/deployments", 0, "")
	if got := next(t, events, "the removal that no stream had"); got.Action != watcher.ActionChanged {
		t.Errorf("got %+v", got)
	}
	if all := listFromMemory(t, s, w); len(all) != 1 || all[0].Name != "media_web" {
		t.Errorf("listed %+v", all)
	}
}

// TestOutageIsAnError: the host keeps what it knew, and hears when the cluster is back.
func TestOutageIsAnError(t *testing.T) {
	s := newServer(t)
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	w := watching(t, s, nil)
	events := follow(t, w)
	s.awaitStreams(t, resources)
	listFromMemory(t, s, w)
	for _, path := range paths {
		s.refuse("list", path, 503, "the server is currently unable to handle the request")
		s.refuse("watch", path, 503, "the server is currently unable to handle the request")
	}
	s.cutStreams()
	next(t, events, "the outage")
	if all, err := w.List(t.Context()); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("got %+v, %v", all, err)
	}
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.28"))
	for _, path := range paths {
		s.refuse("list", path, 0, "")
		s.refuse("watch", path, 0, "")
	}
	next(t, events, "what changed meanwhile")
	if all := listFromMemory(t, s, w); all[0].Image.Tag != "1.28" {
		t.Errorf("listed %+v", all)
	}
	for _, line := range []string{"the cluster cannot be watched, trying again", "the cluster can be watched again"} {
		if n := strings.Count(w.Log.String(), line); n != 1 {
			t.Errorf("%q is logged %d times in %s", line, n, w.Log)
		}
	}
}

// TestWatchMayBeForbidden: lists go on, each with requests, and the log names the rule once.
func TestWatchMayBeForbidden(t *testing.T) {
	s := newServer(t)
	s.put(t, deployment("media", "web", `"replicas": 1`, "nginx:1.27"))
	s.refuse("watch", "/api/v1/pods", 403, strings.ReplaceAll(forbidden, "%s", "pods"))
	w := watching(t, s, nil)
	follow(t, w)
	s.await(t, "a second try", func() bool {
		n := 0
		for _, r := range s.requests {
			if strings.HasPrefix(r, "watch /api/v1/pods") {
				n++
			}
		}
		return n >= 2
	})
	if all := mustList(t, w); len(all) != 1 {
		t.Errorf("listed %+v", all)
	}
	if n := strings.Count(w.Log.String(), "verbs: [list, watch]"); n != 1 {
		t.Errorf("the rule is named %d times in %s", n, w.Log)
	}
}
