package docker

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/docker/docker/api/types/image"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestUpdatePullsByDigest covers the pull, the digest that is not there, dry run, prune and keep.
func TestUpdatePullsByDigest(t *testing.T) {
	engine := dockertest.Start(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	push := func(tag string) (string, string) {
		id := engine.Image(t, host+"/team/app:"+tag, "LABEL version="+tag)
		engine.Push(t, host+"/team/app:"+tag)
		response, err := http.Head(server.URL + "/v2/team/app/manifests/" + tag)
		check(t, err)
		check(t, response.Body.Close())
		return id, response.Header.Get("Docker-Content-Digest")
	}
	l := &lab{Daemon: engine, docker: watch(t, Options{Socket: engine.Host, Update: true})}
	l.old, _ = push("1")
	var digest string
	l.new, digest = push("2")
	_, err := engine.API.ImageRemove(t.Context(), host+"/team/app:2", image.RemoveOptions{})
	check(t, err)
	id := l.make(t, "web", host+"/team/app:1", shape{}, true)
	req := watcher.UpdateRequest{ContainerID: id, Image: watcher.TargetImage{Reference: host + "/team/app:2", Digest: "sha256:" + strings.Repeat("0", 64)}}
	apply := func() watcher.Outcome {
		out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}, &journal{})
		check(t, err)
		return out
	}
	if out := apply(); out.State != watcher.Unchanged || out.Reason.Code != "step.pull" {
		t.Errorf("missing digest: %+v", out)
	}
	req.Image.Digest = digest
	req.Rules.DryRun = true
	if out := apply(); out.State != watcher.Unchanged || out.Reason.Code != "dryrun" {
		t.Errorf("dry run: %+v", out)
	}
	l.only(t, "web", l.old)
	req.Rules = watcher.UpdateRules{Prune: true}
	if out := apply(); out.State != watcher.Updated || out.Downtime <= 0 || len(out.Warnings) > 0 {
		t.Errorf("%+v", out)
	}
	l.only(t, "web", l.new)
	if c := l.inspect(t, "web"); c.Config.Image != host+"/team/app:2" {
		t.Errorf("image %s", c.Config.Image)
	}
	if _, err := engine.API.ImageInspect(t.Context(), l.old); err == nil {
		t.Error("the old image is left")
	}
}

// TestUpdateSurvivesEveryRefusal has the engine refuse each changing request in turn.
func TestUpdateSurvivesEveryRefusal(t *testing.T) {
	l := newLab(t)
	socket := strings.TrimPrefix(l.Host, "unix://")
	var failAt, calls atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == failAt.Load() {
			http.Error(w, `{"message":"injected"}`, http.StatusInternalServerError)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	l.docker = watch(t, Options{Socket: server.URL, Update: true})
	for n := int64(1); ; n++ {
		vpn := l.make(t, "web", "app:1", shape{}, true)
		req := l.request(vpn)
		failAt.Store(0)
		op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
		calls.Store(0)
		failAt.Store(n)
		j := &journal{}
		out, err := l.docker.Apply(t.Context(), op, j)
		reached := calls.Load() >= n
		how := "applied"
		if err != nil {
			op.Steps = j.steps
			if out, err = l.docker.Recover(t.Context(), op, &journal{}); err != nil {
				t.Fatalf("call %d: recover: %v", n, err)
			}
			how = "recovered"
		}
		t.Logf("call %d: %s: %s (%s) %s %v", n, how, out.State, out.Reason.Code, out.Reason.Text, out.Warnings)
		image := l.old
		if out.State == watcher.Updated {
			image = l.new
		}
		if len(out.Warnings) == 0 {
			l.only(t, "web", image)
		}
		for _, c := range []string{"web", "web-dogwatch-op1"} {
			if _, err := l.API.ContainerInspect(t.Context(), c); err == nil {
				l.Remove(t, c)
			}
		}
		if !reached {
			return
		}
	}
}
