package docker

import (
	"bytes"
	"context"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestUpdatePullsByDigest covers the pull, the digest that is not there, dry run, prune and keep.
func TestUpdatePullsByDigest(t *testing.T) {
	t.Parallel()
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
	l := &lab{Daemon: engine, docker: watch(t, Options{Connection: Connection{Socket: engine.Host}, Update: true})}
	l.docker.updater.Liveness = soon
	var before, digest string
	l.old, before = push("1")
	l.new, digest = push("2")
	_, err := engine.API.ImageRemove(t.Context(), host+"/team/app:2", image.RemoveOptions{})
	check(t, err)
	id := l.make(t, "web", host+"/team/app:1", shape{}, true)
	req := watcher.UpdateRequest{
		ContainerID: id,
		Image:       watcher.TargetImage{Reference: host + "/team/app:2", Digest: "sha256:" + strings.Repeat("0", 64)},
	}
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
	req = watcher.UpdateRequest{
		ContainerID: l.inspect(t, "web").ID,
		Image:       watcher.TargetImage{Reference: host + "/team/app:1", ID: l.old, Digest: before},
	}
	if out := apply(); out.State != watcher.Updated {
		t.Errorf("back to an image that was removed: %+v", out)
	}
	l.only(t, "web", l.old)
	req = watcher.UpdateRequest{
		ContainerID: l.inspect(t, "web").ID,
		Image:       watcher.TargetImage{Reference: host + "/team/app:3", ID: "sha256:" + strings.Repeat("0", 64)},
	}
	plan, err := l.docker.Plan(t.Context(), req)
	check(t, err)
	if len(plan.Blocks) != 1 || plan.Blocks[0].Code != replace.BlockImage {
		t.Errorf("an image that is not to be had: %+v", plan.Blocks)
	}
}

// behind returns a watcher of the engine that sees what handle passes on.
func (l *lab) behind(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, engine http.Handler)) *Docker {
	t.Helper()
	socket := strings.TrimPrefix(l.Host, "unix://")
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	proxy.Transport = transport
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, proxy) }))
	t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
	})
	d := watch(t, Options{Connection: Connection{Socket: server.URL}, Update: true})
	d.updater.Liveness = soon
	return d
}

// stack is a container to update with what depends on it.
type stack struct {
	shape shape
	// client is in the network of the container.
	client bool
	rules  watcher.UpdateRules
	// reads has the requests refused, too, that change nothing.
	reads bool
}

// TestUpdateSurvivesEveryRefusal has the engine refuse each request in turn, all of
// them for the plain container, and those that change something for the others. What
// they have in common is refused to one of them or another on each day.
func TestUpdateSurvivesEveryRefusal(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.bridge(t, "front", "10.98.5.0/24")
	l.bridge(t, "back", "10.98.6.0/24")
	always := container.RestartPolicy{Name: "always"}
	stacks := map[string]stack{
		"plain": {reads: true},
		"networks": {shape: shape{Host: container.HostConfig{NetworkMode: "front"},
			Connect: map[string]*network.EndpointSettings{
				"back": {Aliases: []string{"app"}, IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: "10.98.6.78"}},
			}}},
		"paused": {shape: shape{paused: true}},
		"client": {client: true},
		"files":  {shape: shape{files: map[string]string{"/app.conf": "level: debug"}}, reads: true},
		"keep": {
			shape: shape{Host: container.HostConfig{RestartPolicy: always}},
			rules: watcher.UpdateRules{Keep: 1, StopSignal: "SIGINT"},
		},
		"hooks": {
			rules: watcher.UpdateRules{
				Hooks: watcher.Hooks{Pre: []string{"/main", "health", "h"}, Post: []string{"/main", "health", "h"}},
			},
		},
	}
	for i, name := range slices.Sorted(maps.Keys(stacks)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := *l
			chosen := dockertest.Moments(t, 3, i)
			for n := 1; !chosen(n) || l.refuse(t, name, stacks[name], int64(n)); n++ {
			}
		})
	}
}

// refuse has the engine refuse the request number n of an update, and reports whether there was one.
func (l *lab) refuse(t *testing.T, name string, s stack, n int64) bool {
	var calls atomic.Int64
	var refused atomic.Value
	var on atomic.Bool
	l.docker = l.behind(t, func(w http.ResponseWriter, r *http.Request, engine http.Handler) {
		if on.Load() && (s.reads || r.Method != http.MethodGet && r.Method != http.MethodHead) && calls.Add(1) == n {
			refused.Store(r.Method + " " + r.URL.Path)
			http.Error(w, `{"message":"injected"}`, http.StatusInternalServerError)
			return
		}
		engine.ServeHTTP(w, r)
	})
	ids := map[string]string{name: l.make(t, name, "app:1", s.shape, true)}
	if s.client {
		ids[name+"-net"] = l.make(t, name+"-net", "app:1", shape{
			Host: container.HostConfig{NetworkMode: container.NetworkMode("container:" + ids[name])},
		}, true)
	}
	before := l.inspect(t, name)
	req := l.request(ids[name])
	req.Rules = s.rules
	op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
	on.Store(true)
	j := &journal{}
	out, err := l.docker.Apply(t.Context(), op, j)
	how := "applied"
	if err != nil {
		op.Steps = j.steps
		if out, err = l.docker.Recover(t.Context(), op, &journal{}); err != nil {
			t.Fatalf("request %d: recover: %v", n, err)
		}
		how = "recovered"
	}
	on.Store(false)
	t.Logf("request %d, %v: %s: %s (%s) %s %v", n, refused.Load(), how, out.State, out.Reason.Code, out.Reason.Text,
		out.Warnings)
	if out.State == watcher.Broken {
		t.Errorf("request %d: %+v", n, out)
	}
	all, err := l.API.ContainerList(t.Context(), container.ListOptions{All: true})
	check(t, err)
	for _, c := range all {
		switch got := engine.Name(c); {
		case got != name && !strings.HasPrefix(got, name+"-"):
			continue
		case strings.Contains(got, "-dogwatch-"):
			if left := len(out.Warnings) > 0 || s.rules.Keep > 0; !left || out.State != watcher.Updated || c.State == "running" {
				t.Errorf("request %d: %s is left %s", n, got, c.State)
			}
		case (out.State == watcher.Updated) == (c.ID == ids[got]) || ids[got] == "":
			t.Errorf("request %d: %s has the id %s, was %s", n, got, engine.Short(c.ID), engine.Short(ids[got]))
		case c.State != before.State.Status:
			t.Errorf("request %d: %s is %s", n, got, c.State)
		default:
			delete(ids, got)
		}
		defer l.Remove(t, c.ID)
	}
	if len(ids) > 0 {
		t.Errorf("request %d: missing: %v", n, ids)
	}
	for path := range s.shape.files {
		if l.read(t, name, path) == "" {
			t.Errorf("request %d: %s is lost", n, path)
		}
	}
	if after := l.inspect(t, name); out.State != watcher.Updated && settings(t, after) != settings(t, before) {
		t.Errorf("request %d: got %s\nwant %s", n, settings(t, after), settings(t, before))
	}
	return refused.Load() != nil
}

// TestUpdateSurvivesAKilledEngine kills the engine as a step begins. Once it is back,
// one container is left and runs.
func TestUpdateSurvivesAKilledEngine(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.docker.updater.StopMargin = 5 * time.Second // it comes back only when the update has given up
	for _, code := range []string{watcher.StepCreate, watcher.StepStop, watcher.StepStart, watcher.StepHealth,
		watcher.StepRemove} {
		t.Run(code, func(t *testing.T) {
			id := l.make(t, "web", "app:1", shape{
				Host: container.HostConfig{RestartPolicy: container.RestartPolicy{Name: "always"}},
			}, true)
			req := l.request(id)
			req.Rules.Health.Window = 5 * time.Second
			op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
			j := &taking{journal: &journal{}, at: code, take: func(context.Context) { l.Kill(t) }}
			out, err := l.docker.Apply(t.Context(), op, j)
			l.Start(t)
			if left, err := l.API.ContainerInspect(t.Context(), "web-dogwatch-op1"); err == nil && left.State.Running &&
				(code == watcher.StepHealth || code == watcher.StepRemove) {
				t.Error("the engine started the old container beside the new one")
			}
			if err != nil {
				op.Steps = j.steps
				out, err = l.docker.Recover(t.Context(), op, &journal{})
				check(t, err)
			}
			t.Logf("%s: %s %s %v", code, out.State, out.Reason.Text, out.Warnings)
			image := map[watcher.OutcomeState]string{watcher.RolledBack: l.old, watcher.Updated: l.new}[out.State]
			l.only(t, "web", image)
			if policy := l.inspect(t, "web").HostConfig.RestartPolicy.Name; policy != "always" {
				t.Errorf("the restart policy is %s", policy)
			}
			l.Remove(t, "web")
		})
	}
}

// TestUpdateLeavesTheContainerWhenThePullFails covers errors that come inside of a stream which began with success.
func TestUpdateLeavesTheContainerWhenThePullFails(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	full := `{"status":"Pulling fs layer","id":"a"}` + "\n" +
		`{"errorDetail":{"message":"x"},"error":"write /var/lib/docker/tmp/GetImageBlob1: no space left on device"}` + "\n"
	for name, test := range map[string]struct{ stream, says string }{
		"disk full":         {full, "no space left on device"},
		"connection broken": {`{"status":"Pulling fs layer","id":"a"}` + "\n" + `{"status":"Down`, "cut short"},
		"nothing pulled":    {`{"status":"Pulling fs layer","id":"a"}` + "\n", "after the pull"},
		"registry gone":     {"", "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			l := *l
			l.docker = l.behind(t, func(w http.ResponseWriter, r *http.Request, engine http.Handler) {
				if strings.HasSuffix(r.URL.Path, "/images/create") && test.stream != "" {
					_, err := io.WriteString(w, test.stream)
					check(t, err)
					return
				}
				engine.ServeHTTP(w, r)
			})
			id := l.make(t, "web", "app:1", shape{}, true)
			defer l.Remove(t, "web")
			req := watcher.UpdateRequest{
				ContainerID: id,
				Image:       watcher.TargetImage{Reference: "127.0.0.1:1/app:2", Digest: "sha256:" + strings.Repeat("0", 64)},
			}
			out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}, &journal{})
			check(t, err)
			if out.State != watcher.Unchanged || out.Reason.Code != "step.pull" ||
				!strings.Contains(out.Reason.Text, test.says) {
				t.Errorf("%+v", out)
			}
			l.only(t, "web", l.old)
		})
	}
}

// TestRecoverRemovesWhatTheEngineCreatesLate kills an update while the engine creates the
// new container, which takes the name of the old one just before that gets it back.
func TestRecoverRemovesWhatTheEngineCreatesLate(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id := l.make(t, "web", "app:1", shape{}, true)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	var late atomic.Pointer[http.Request]
	l.docker = l.behind(t, func(w http.ResponseWriter, r *http.Request, engine http.Handler) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/containers/create"):
			body, err := io.ReadAll(r.Body)
			check(t, err)
			create := r.Clone(t.Context())
			create.Body = io.NopCloser(bytes.NewReader(body))
			late.Store(create)
			kill()
			panic(http.ErrAbortHandler)
		case strings.HasSuffix(r.URL.Path, "/rename") && r.URL.Query().Get("name") == "web":
			if create := late.Swap(nil); create != nil {
				created := httptest.NewRecorder()
				if engine.ServeHTTP(created, create); created.Code != http.StatusCreated {
					t.Errorf("create: %d %s", created.Code, created.Body)
				}
			}
		}
		engine.ServeHTTP(w, r)
	})
	req, j := l.request(id), &journal{}
	op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
	if out, err := l.docker.Apply(ctx, op, j); err == nil {
		t.Fatalf("it was not interrupted: %+v", out)
	}
	op.Steps = j.steps
	out, err := l.docker.Recover(t.Context(), op, &journal{steps: slices.Clone(j.steps)})
	check(t, err)
	if out.State != watcher.RolledBack || late.Load() != nil {
		t.Errorf("%+v", out)
	}
	l.only(t, "web", l.old)
}
