package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/go-connections/nat"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// actor is an installation that updates one container.
type actor struct {
	*product
	g    *gate
	in   *installation
	d    *daemon
	name string
	// id is the old container.
	id string
	// hook keeps what is sent about updates.
	hook *inbox
}

// act runs a container of the old version and an installation that knows of the new
// one, which has the changes. Options may set how the container is made.
func act(
	t *testing.T, engine *dockertest.Daemon, registry, name string, changes []string,
	options ...func(*container.Config, *container.HostConfig),
) *actor {
	t.Helper()
	a := &actor{product: newProduct(t, engine, registry+"/team/"+name, changes...), g: newGate(t, engine), name: name}
	hook, to := startSink(t)
	a.hook = hook
	a.in = install(t, "DOGWATCH_TRIGGER_HTTP_END_URL="+to, "DOGWATCH_TRIGGER_HTTP_END_EVENTS=operation",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+a.g.socket, "DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true", "DOGWATCH_WATCHER_DOCKER_LOCAL_COMPOSE=request",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHBYDEFAULT=false", "DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry)
	a.id = a.run(t, name, "1.0.0", options...)
	a.d = a.in.start()
	a.d.watch()
	return a
}

// run runs a container that is watched.
func (p *product) run(
	t testing.TB, name, tag string, options ...func(*container.Config, *container.HostConfig),
) string {
	t.Helper()
	config := &container.Config{Image: p.repo + ":" + tag, Labels: map[string]string{"dogwatch.watch": "true"}}
	host := &container.HostConfig{NetworkMode: network.NetworkNone}
	for _, set := range options {
		set(config, host)
	}
	made, err := p.engine.API.ContainerCreate(t.Context(), config, host, nil, nil, name)
	must(t, err)
	must(t, p.engine.API.ContainerStart(t.Context(), made.ID, container.StartOptions{}))
	return made.ID
}

// restarting has the engine start a container with itself. With unless-stopped it does
// not always: an engine that finds a container running after a crash stops it itself.
func restarting(_ *container.Config, h *container.HostConfig) {
	h.RestartPolicy.Name = container.RestartPolicyAlways
}

// at does something once, when a request comes to the gate. It returns a channel that
// is closed when it is done. The request is dropped if do returns false.
func (g *gate) at(what string, responded bool, do func() bool) <-chan struct{} {
	done := make(chan struct{})
	var once sync.Once
	g.on(func(m moment) bool {
		pass := true
		if m.what == what && m.responded == responded {
			once.Do(func() {
				defer close(done)
				pass = do()
			})
		}
		return pass
	})
	return done
}

// settle waits for the end of the operation, and requires that the container is the
// one that the operation tells of, and alone.
func (a *actor) settle(t *testing.T, id string) operation.State {
	t.Helper()
	op := a.d.ended(id)
	image := a.old
	if op.State == operation.Succeeded {
		image = a.new
	}
	only(t, a.engine, a.name, image)
	if op.Outcome == nil || op.Outcome.State == watcher.Broken || len(a.d.ends(id)) != 1 {
		t.Errorf("its end is in the log %d times", len(a.d.ends(id)))
	}
	t.Logf("changes %v; the operation is %s", steps(a.g.take()), says(op))
	return op.State
}

// TestLostRemovalIsRepeated: the connection of the request that removes the old container ends without a response, and
// the engine goes on.
func TestLostRemovalIsRepeated(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	a := act(t, engine, registry, "lost", nil)
	lost := a.g.at("remove", false, func() bool { return false })
	op := a.d.begin("update", a.name)
	await(t, lost, "remove")
	if state := a.settle(t, op.ID); state != operation.Succeeded {
		t.Errorf("the operation is %s", state)
	}
}

// TestEngineExitsDuringUpdate kills the engine at steps of an update and starts it
// again: with a container that the engine starts with itself, and one that it does not.
func TestEngineExitsDuringUpdate(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	_, sample := killRounds(t)
	for _, b := range []moment{{what: "pull", responded: true}, {what: "create", responded: true}, {what: "stop"}, {
		what: "start", responded: true,
	}, {what: "remove"}} {
		for _, restarts := range []bool{true, false} {
			if restarts != (b.what == "create" || b.what == "remove") && sample {
				continue // half of them
			}
			t.Run(fmt.Sprintf("%s responded=%v restarts=%v", b.what, b.responded, restarts), func(t *testing.T) {
				options := []func(*container.Config, *container.HostConfig){}
				if restarts {
					options = append(options, restarting)
				}
				a := act(t, engine, registry, fmt.Sprintf("exits-%s-%v", b.what, restarts), nil, options...)
				killed := a.g.at(b.what, b.responded, func() bool { engine.Kill(t); return false })
				op := a.d.begin("update", a.name)
				await(t, killed, b.what)
				engine.Start(t)
				if !restarts && b.what == "pull" { // nothing was done yet: the engine's own end stopped it
					op = a.d.ended(op.ID)
					must(t, engine.API.ContainerStart(t.Context(), a.name, container.StartOptions{}))
				}
				state := a.settle(t, op.ID)
				if want := map[string]operation.State{
					"pull": operation.Failed, "remove": operation.Succeeded,
				}[b.what]; want != "" && state != want {
					t.Errorf("the operation is %s, want %s", state, want)
				}
				a.d.stop()
			})
		}
	}
}

// TestEngineIsAwayDuringUpdate has the engine not respond for some time.
func TestEngineIsAwayDuringUpdate(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	away := 3 * time.Second
	if rounds, _ := killRounds(t); rounds > 1 {
		away = 30 * time.Second
	}
	for _, what := range []string{"create", "stop", "remove"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			a := act(t, engine, registry, "away-"+what, nil)
			var since atomic.Int64
			a.g.on(func(m moment) bool {
				if m.what == what {
					since.CompareAndSwap(0, time.Now().UnixNano())
				}
				from := since.Load()
				return from == 0 || time.Since(time.Unix(0, from)) > away
			})
			a.settle(t, a.d.begin("update", a.name).ID)
			a.d.stop()
		})
	}
}

// flakyRegistry is a registry that can be made to fail.
type flakyRegistry struct {
	host string
	// gone drops all connections, hollow has manifests but no layers.
	gone, hollow atomic.Bool
}

func newFlakyRegistry(t *testing.T) *flakyRegistry {
	t.Helper()
	f := &flakyRegistry{}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: startRegistry(t)})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case f.gone.Load():
			panic(http.ErrAbortHandler)
		case f.hollow.Load() && strings.Contains(r.URL.Path, "/blobs/"):
			http.Error(w, `{"errors":[{"code":"BLOB_UNKNOWN","message":"no such layer"}]}`, http.StatusNotFound)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	f.host = strings.TrimPrefix(server.URL, "http://")
	return f
}

// TestPullFailsDuringUpdate covers a registry that goes away once the image is
// resolved, and one whose layers are missing, which the engine says within its stream.
func TestPullFailsDuringUpdate(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), newFlakyRegistry(t)
	a := act(t, engine, registry.host, "pull", nil)
	for what, fails := range map[string]*atomic.Bool{"gone": &registry.gone, "hollow": &registry.hollow} {
		a.g.take()
		a.g.at("pull", false, func() bool { fails.Store(true); return true })
		op := a.d.ended(a.d.begin("update", a.name).ID)
		fails.Store(false)
		if op.State != operation.Failed || op.Outcome == nil || op.Outcome.State != watcher.Unchanged ||
			op.Outcome.Reason.Code != "step.pull" {
			t.Errorf("%s: the operation is %s", what, says(op))
		}
		t.Logf("%s: %s", what, op.Error)
		if all := a.g.take(); len(all) != 1 {
			t.Errorf("%s: changes %v, want the pull alone", what, steps(all))
		}
		only(t, engine, a.name, a.old)
	}
	a.g.on(nil)
	op := a.d.ended(a.d.begin("update", a.name).ID) // it was not the container's fault
	succeeded(t, op)
	if id := known(a.d, a.name).ID; op.Outcome != nil && id != op.Outcome.Container {
		t.Errorf("at its end %s is known as %s, want %s", a.name, id, op.Outcome.Container)
	}
	only(t, engine, a.name, a.new)
	a.d.stop()
}

// TestPortIsTakenDuringUpdate has another process take the port of the container
// while that is stopped: for a moment, or for good.
func TestPortIsTakenDuringUpdate(t *testing.T) {
	t.Parallel()
	require(t, "docker-proxy", "docker-proxy")
	engine, registry := dockertest.Start(t), startRegistry(t)
	_, err := engine.API.NetworkCreate(t.Context(), "front", network.CreateOptions{
		Driver: "bridge", IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: "10.98.11.0/24"}}},
	})
	must(t, err)
	for name, forGood := range map[string]bool{"moment": false, "good": true} {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		address := free.Addr().String()
		must(t, free.Close())
		a := act(t, engine, registry, "port-"+name, nil, func(c *container.Config, h *container.HostConfig) {
			_, port, _ := net.SplitHostPort(address)
			h.NetworkMode = "front"
			c.ExposedPorts = nat.PortSet{"80/tcp": {}}
			h.PortBindings = nat.PortMap{"80/tcp": {{HostIP: "127.0.0.1", HostPort: port}}}
		})
		var taken net.Listener
		a.g.on(func(m moment) bool {
			switch {
			case m.what == "start" && !m.responded && taken == nil:
				taken, err = net.Listen("tcp", address)
			case m.what == "start" && m.responded && taken != nil && !forGood:
				taken.Close()
			}
			return true
		})
		op := a.d.ended(a.d.begin("update", a.name).ID)
		must(t, err)
		t.Logf("the operation is %s", says(op))
		want, outcome := operation.RolledBack, watcher.RolledBack
		if forGood {
			want, outcome = operation.Failed, watcher.Broken
		}
		if op.State != want || op.Outcome == nil || op.Outcome.State != outcome ||
			op.Outcome.Reason.Code != "step.start" || !strings.Contains(op.Error, "address already in use") {
			t.Errorf("the operation is %s", says(op))
		}
		all := containersOf(t, engine, a.name)
		if len(all) != 1 || all[0].ID != a.id || all[0].Names[0] != "/"+a.name || (all[0].State == "running") == forGood {
			t.Errorf("there is %s", show(all))
		}
		if forGood { // the operation says: start it
			must(t, taken.Close())
			must(t, engine.API.ContainerStart(t.Context(), a.name, container.StartOptions{}))
		}
		only(t, engine, a.name, a.old)
		a.d.stop()
	}
}

// TestContainerIsRemovedDuringUpdate has a user remove the container that an update
// is about to start, or the one that it replaces.
func TestContainerIsRemovedDuringUpdate(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	remove := func(a *actor, id string) bool {
		must(t, engine.API.ContainerRemove(t.Context(), id, container.RemoveOptions{Force: true}))
		return true
	}
	t.Run("new", func(t *testing.T) {
		t.Parallel()
		a := act(t, engine, registry, "removes-new", nil)
		a.g.at("start", true, func() bool { return remove(a, a.name) })
		if state := a.settle(t, a.d.begin("update", a.name).ID); state != operation.RolledBack {
			t.Errorf("the operation is %s", state)
		}
		a.d.stop()
	})
	t.Run("old", func(t *testing.T) {
		t.Parallel()
		a := act(t, engine, registry, "removes-old", nil)
		a.g.at("stop", false, func() bool { return remove(a, a.id) })
		op := a.d.ended(a.d.begin("update", a.name).ID)
		t.Logf("the operation is %s", says(op))
		if op.State != operation.Failed || op.Outcome == nil || op.Outcome.State != watcher.Broken ||
			!strings.Contains(op.Error, "the old container "+a.id[:12]+" does not exist any more, so the new one stays") {
			t.Errorf("the operation is %s", says(op))
		}
		only(t, engine, a.name, a.new)
		a.d.stop()
	})
}

// TestStopDuringUpdate ends Dogwatch as a service manager does, at steps of an update.
// Meanwhile the container runs, and the next start leaves one alone.
func TestStopDuringUpdate(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	for _, b := range []moment{{what: "pull"}, {what: "rename"}, {what: "create", responded: true}, {
		what: "stop", responded: true,
	}, {what: "start", responded: true}, {what: "remove"}} {
		t.Run(b.what, func(t *testing.T) {
			t.Parallel()
			a := act(t, engine, registry, "stop-"+b.what, nil)
			stopped := make(chan struct{})
			a.g.at(b.what, b.responded, func() bool {
				go func() { defer close(stopped); a.d.stop() }()
				time.Sleep(100 * time.Millisecond) // the signal comes during the step
				return true
			})
			id := a.d.begin("update", a.name).ID
			await(t, stopped, b.what)
			running := 0
			for _, c := range containersOf(t, engine, a.name) {
				if c.State == "running" {
					running++
				}
			}
			if running != 1 {
				t.Errorf("%d containers run while Dogwatch is stopped: %s", running, show(containersOf(t, engine, a.name)))
			}
			a.g.on(nil)
			a.d = a.in.start()
			a.settle(t, id)
			a.d.stop()
		})
	}
}
