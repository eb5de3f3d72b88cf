package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/internal/buildtest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// contained is a Dogwatch in a container of the engine that it watches.
type contained struct {
	*daemon
	engine *dockertest.Daemon
	repo   string
	store  string // the folder of its database
	binary []byte
}

// push pushes a version of Dogwatch's image and returns its id.
func (c *contained) push(tag string, changes ...string) string {
	c.t.Helper()
	return c.pushProgram(tag, c.binary, changes...)
}

func (c *contained) pushProgram(tag string, program []byte, changes ...string) string {
	c.t.Helper()
	all := append([]string{`ENTRYPOINT ["/bin/dogwatch"]`, "LABEL version=" + tag,
		`HEALTHCHECK --interval=500ms --timeout=5s --start-period=30s --retries=3 CMD ["/bin/dogwatch","healthcheck"]`},
		changes...)
	id := c.engine.ImageWith(c.t, c.repo+":"+tag, map[string][]byte{"/bin/dogwatch": program}, all...)
	c.engine.Push(c.t, c.repo+":"+tag)
	return id
}

// contain runs version 1.0.0 in a container called dogwatch.
func contain(t *testing.T, env ...string) (c *contained, image string) {
	t.Helper()
	return containAt(t, dockertest.Start(t), "/run/engine/engine.sock", env...)
}

// containAt runs one that reaches the engine at an address.
func containAt(t *testing.T, engine *dockertest.Daemon, at string, env ...string) (c *contained, image string) {
	t.Helper()
	return containIn(t, engine, "host", at, env...)
}

// containIn runs one in a network, which has to be that of the host in the end.
func containIn(
	t *testing.T, engine *dockertest.Daemon, mode container.NetworkMode, at string, env ...string,
) (c *contained, image string) {
	t.Helper()
	registry := startRegistry(t)
	dir := filepath.Dir(strings.TrimPrefix(engine.Host, "unix://"))
	t.Cleanup(func() { // the network of the host, which outlives the engine
		_ = syscall.Unmount(filepath.Join(dir, "exec", "netns", "default"), syscall.MNT_DETACH)
	})
	path, err := built()
	must(t, err)
	binary, err := os.ReadFile(path)
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := l.Addr().String()
	must(t, l.Close())
	_, port, _ := net.SplitHostPort(address)
	c = &contained{
		daemon: &daemon{t: t, url: "http://" + address}, engine: engine, repo: registry + "/team/dogwatch", binary: binary,
	}
	image = c.push("1.0.0")
	c.store = shortDir(t)
	made, err := engine.API.ContainerCreate(t.Context(), &container.Config{Image: c.repo + ":1.0.0", Env: append([]string{
		"DOGWATCH_STORE_PATH=/store", "DOGWATCH_SERVER_HOST=127.0.0.1", "DOGWATCH_SERVER_PORT=" + port,
		"DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET=" + at, "DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *",
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://" + registry,
	}, env...)}, &container.HostConfig{
		NetworkMode: mode, ReadonlyRootfs: true, Binds: []string{dir + ":/run/engine", c.store + ":/store"},
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyUnlessStopped},
	}, nil, nil, "dogwatch")
	must(t, err)
	must(t, engine.API.ContainerStart(t.Context(), made.ID, container.StartOptions{}))
	t.Cleanup(func() {
		if t.Failed() {
			for _, one := range containersOf(t, engine, "dogwatch") {
				t.Logf("%s is %s\n%s", one.Names[0], one.Status, tail(c.logs(one.ID), 30))
			}
		}
	})
	c.listening()
	return c, image
}

func (c *contained) logs(id string) string {
	stream, err := c.engine.API.ContainerLogs(c.t.Context(), id, container.LogsOptions{ShowStdout: true, ShowStderr: true})
	if err != nil {
		return err.Error()
	}
	defer stream.Close()
	text, _ := io.ReadAll(stream)
	return string(text)
}

// listening waits until a Dogwatch responds.
func (c *contained) listening() {
	c.t.Helper()
	eventually(c.t, "dogwatch listens", func() bool {
		resp, err := http.Get(c.url + "/health")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// outcome waits for the end of an operation, during which Dogwatch is away for a while.
func (c *contained) outcome(id string) (op api.Operation) {
	c.t.Helper()
	eventually(c.t, "operation "+id+" ends", func() bool {
		resp, err := http.Get(c.url + "/api/operations/" + id)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(&op) == nil && op.State.Ended()
	})
	return op
}

// TestSelfUpdate has a Dogwatch in a container update itself: to versions that do not
// work, after which the old one runs, and to one that does.
func TestSelfUpdate(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: takes a minute")
	}
	c, image := contain(t, "DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true")
	_, sample := killRounds(t)
	for i, v := range []struct {
		name    string
		changes []string
		want    operation.State
	}{
		{"exits at once", []string{`ENTRYPOINT ["/main-is-missing"]`}, operation.RolledBack},
		{"ends with an error", []string{`ENTRYPOINT ["/bin/dogwatch","nonsense"]`}, operation.RolledBack},
		{"is never healthy",
			[]string{`HEALTHCHECK --interval=200ms --timeout=1s --retries=2 CMD ["/bin/dogwatch","nonsense"]`},
			operation.RolledBack},
		{"works", nil, operation.Succeeded},
	} {
		if sample && i < 2 {
			continue // each takes half a minute
		}
		next := c.push(fmt.Sprintf("1.%d.0", i+1), v.changes...)
		c.watch()
		if u := known(c.daemon, "dogwatch"); !u.UpdateAvailable {
			t.Fatalf("%s: no update: %s", v.name, show(u))
		}
		if p := c.plan("dogwatch"); len(p.Blocks) > 0 {
			t.Fatalf("%s: blocked: %v", v.name, p.Blocks)
		}
		began := time.Now()
		op := c.outcome(c.begin("update", "dogwatch").ID)
		t.Logf("%s: %.1f s, %s", v.name, time.Since(began).Seconds(), says(op))
		if op.State != v.want {
			t.Errorf("%s: the operation is %s", v.name, says(op))
		}
		if v.want == operation.Succeeded {
			image = next
			succeeded(t, op)
			var steps []string
			for _, s := range op.Steps {
				steps = append(steps, s.ID)
			}
			if want := []string{"pull", "handover:dogwatch", "rename:dogwatch", "create:dogwatch", "stop:dogwatch",
				"start:dogwatch", "health:dogwatch", "remove:dogwatch"}; !slices.Equal(steps, want) {
				t.Errorf("%s: steps %v", v.name, steps)
			}
		}
		if ends := c.ends(op.ID); len(ends) != 1 {
			t.Errorf("%s: ends %v", v.name, ends)
		}
		only(t, c.engine, "dogwatch", image)
	}
}

// TestSelfUpdateBehindAnotherContainer has Dogwatch replace its own container in the network
// of another one, such as a VPN, whose hostname and files it sees as its own.
func TestSelfUpdateBehindAnotherContainer(t *testing.T) {
	t.Parallel()
	engine := dockertest.Start(t)
	engine.Image(t, "vpn:1")
	made, err := engine.API.ContainerCreate(t.Context(), &container.Config{Image: "vpn:1", Hostname: "vpn"},
		&container.HostConfig{NetworkMode: "host"}, nil, nil, "vpn")
	must(t, err)
	must(t, engine.API.ContainerStart(t.Context(), made.ID, container.StartOptions{}))
	c, _ := containIn(t, engine, container.NetworkMode("container:"+made.ID), "/run/engine/engine.sock",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true")
	next := c.push("1.1.0")
	c.watch()
	op := c.outcome(c.begin("update", "dogwatch").ID)
	succeeded(t, op)
	only(t, engine, "dogwatch", next)
	if vpn, err := engine.API.ContainerInspect(t.Context(), "vpn"); err != nil || vpn.ID != made.ID ||
		!vpn.State.Running {
		t.Errorf("the vpn: %v", err)
	}
}

// upgrading compiles a program whose store has a version more.
func upgrading(t *testing.T) []byte {
	t.Helper()
	dir := shortDir(t)
	migration, overlay, out := filepath.Join(dir, "later.sql"), filepath.Join(dir, "overlay.json"),
		filepath.Join(dir, "dogwatch")
	must(t, os.WriteFile(migration, []byte("CREATE TABLE later (a);\n"), 0o600))
	root, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	text, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(root, "core", "store", "migrations", "9999_later.sql"): migration},
	})
	must(t, err)
	must(t, os.WriteFile(overlay, text, 0o600))
	must(t, buildtest.Dogwatch(out, "-overlay", overlay))
	program, err := os.ReadFile(out)
	must(t, err)
	return program
}

// TestSelfUpdateUndoesTheUpgradeOfTheStore has a newer version upgrade the store and
// then not work: the old one cannot read what it left.
func TestSelfUpdateUndoesTheUpgradeOfTheStore(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: builds the program once more")
	}
	c, image := contain(t, "DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true")
	program := upgrading(t)
	c.pushProgram("1.1.0", program, `HEALTHCHECK --interval=2s --timeout=1s --retries=2 CMD ["/bin/dogwatch","nonsense"]`)
	c.watch()
	op := c.outcome(c.begin("update", "dogwatch").ID)
	if op.State != operation.RolledBack || op.Outcome == nil || op.Outcome.Reason.Code != "unhealthy" {
		t.Errorf("the operation is %s", says(op))
	}
	only(t, c.engine, "dogwatch", image)
	if left, err := filepath.Glob(filepath.Join(c.store, "*.undone")); err != nil || len(left) != 1 {
		t.Errorf("the upgraded store is not kept: %v, %v", left, err)
	}
	image = c.pushProgram("1.2.0", program)
	c.watch()
	op = c.outcome(c.begin("update", "dogwatch").ID)
	succeeded(t, op)
	only(t, c.engine, "dogwatch", image)
	if all := c.operations("dogwatch"); len(all) != 2 {
		t.Errorf("there are %d operations", len(all))
	}
}

// TestTriggerUpdatesDogwatch has the docker trigger of What's Up Docker's variables update
// the Dogwatch that it runs in. What's Up Docker stops itself there and stays stopped.
func TestTriggerUpdatesDogwatch(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: takes a minute")
	}
	c, _ := contain(t, "WUD_TRIGGER_DOCKER_LOCAL_PRUNE=true", "DOGWATCH_LOG_LEVEL=debug")
	image := c.push("1.1.0")
	began := time.Now()
	c.watch()
	var all []api.Operation
	ended := func(n int) func() bool {
		return func() bool {
			resp, err := http.Get(c.url + "/api/operations?container=local/dogwatch&limit=10")
			if err != nil {
				return false
			}
			defer resp.Body.Close()
			all = nil
			return json.NewDecoder(resp.Body).Decode(&all) == nil && len(all) == n && all[0].State.Ended()
		}
	}
	eventually(t, "the update ends", ended(1))
	t.Logf("after %.1f s: %s", time.Since(began).Seconds(), says(all[0]))
	if succeeded(t, all[0]); all[0].Trigger != "docker.local" {
		t.Errorf("trigger %q", all[0].Trigger)
	}
	only(t, c.engine, "dogwatch", image)
	c.delivered("dogwatch", delivery.Sent)
	if sent := c.deliveriesOf("dogwatch"); len(sent) != 1 {
		t.Errorf("there are %d deliveries", len(sent))
	}

	c.push("1.2.0", `HEALTHCHECK --interval=200ms --timeout=1s --retries=2 CMD ["/bin/dogwatch","nonsense"]`)
	c.watch()
	eventually(t, "the second update ends", ended(2))
	if all[0].State != operation.RolledBack {
		t.Errorf("the operation is %s", says(all[0]))
	}
	only(t, c.engine, "dogwatch", image)
	c.delivered("dogwatch", delivery.Failed)
	c.watch()
	time.Sleep(3 * time.Second)
	if ended(2)(); len(all) != 2 {
		t.Errorf("it was tried again by itself: %d operations", len(all))
	}
}

// TestSelfUpdateThroughProxy has Dogwatch reach the engine through a proxy, which does
// not let it read logs at first: the helper could not say how it ended.
func TestSelfUpdateThroughProxy(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: takes a minute")
	}
	engine := dockertest.Start(t)
	var open atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.FlushInterval = -1
	proxy.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(engine.Host, "unix://"))
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/logs") && !open.Load() {
			http.Error(w, "denied", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { // Dogwatch follows events until the engine ends
		server.Listener.Close()
		server.CloseClientConnections()
		server.Close()
	})
	c, image := containAt(t, engine, strings.Replace(server.URL, "http:", "tcp:", 1),
		"DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true")
	next := c.push("1.1.0")
	c.watch()
	op := c.outcome(c.begin("update", "dogwatch").ID)
	if op.State != operation.Failed || op.Outcome == nil || op.Outcome.Reason == nil ||
		op.Outcome.Reason.Code != "step.handover" || !strings.Contains(op.Error, "forbidden") {
		t.Errorf("without logs: %s", says(op))
	}
	only(t, c.engine, "dogwatch", image)
	open.Store(true)
	succeeded(t, c.outcome(c.begin("update", "dogwatch").ID))
	only(t, c.engine, "dogwatch", next)
}
