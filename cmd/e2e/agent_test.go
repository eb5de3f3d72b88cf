package e2e

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// startAgent runs dogwatch agent until the test ends, or stop is called.
func (i *installation) startAgent() (stop func()) {
	i.t.Helper()
	path, err := built()
	must(i.t, err)
	cmd := exec.Command(path, "agent")
	cmd.Env, cmd.Dir = i.env, i.store
	log := new(strings.Builder)
	cmd.Stderr = log
	must(i.t, cmd.Start())
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	i.t.Cleanup(func() {
		stop()
		if i.t.Failed() {
			i.t.Logf("log of the agent:\n%s", tail(log.String(), 40))
		}
	})
	return stop
}

// join makes a host an agent, and returns the token that it has used.
func (i *installation) join(d *daemon, name string) (token string) {
	i.t.Helper()
	status, text := d.request(http.MethodPost, "/api/agents", `{"name":"`+name+`"}`)
	if status != http.StatusCreated {
		i.t.Fatalf("no token: %d %s", status, text)
	}
	_, token, _ = strings.Cut(string(text), `"token":"`)
	token, _, _ = strings.Cut(token, `"`)
	if _, problems, code := i.run("agent", "join", d.url, "--token", token); code != 0 {
		i.t.Fatalf("join: %s", problems)
	}
	return token
}

// TestAgentUpdatesItsHost where its owner allows it: an agent that is killed in the middle goes on at its next start,
// and the old container comes back where the new one does not work. Each end is told once.
func TestAgentUpdatesItsHost(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	p := newProduct(t, engine, registry+"/team/web")
	p.run(t, "web", "1.0.0", talks)
	d := install(t, "DOCKER_HOST=unix:///nowhere.sock", "DOGWATCH_WATCHER_AGENT_NAS_UPDATE=true",
		"DOGWATCH_WATCHER_AGENT_NAS_LOGS=true", "DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry).start()
	host := install(t, "DOGWATCH_WATCHER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"))
	host.join(d, "nas")
	stop := host.startAgent()
	offered := func(tag string) {
		t.Helper()
		eventually(t, "an update to "+tag, func() bool {
			d.watch()
			i := slices.IndexFunc(d.containers(), func(c sdk.Container) bool { return c.Name == "web" })
			return i >= 0 && d.containers()[i].UpdateAvailable && d.containers()[i].Result.Tag == tag
		})
	}
	offered("1.1.0")
	plan := func() (status int, text string) {
		status, body := d.request(http.MethodPost, "/api/containers/"+known(d, "web").ID+"/plan", "")
		return status, string(body)
	}
	status, text := plan()
	if status != http.StatusForbidden || !strings.Contains(text, "the owner of nas allows no updates") ||
		!strings.Contains(text, "there, set watcher.docker.local.update to true") {
		t.Errorf("the plan says %d %s", status, text)
	}
	d.showsNoLog("nas", "web", "dogwatch agent --logs")

	stop()
	host.env = append(host.env, "DOGWATCH_WATCHER_LOCAL_UPDATE=true", "DOGWATCH_AGENT_LOGS=true")
	stop = host.startAgent()
	eventually(t, "a plan", func() bool { status, _ := plan(); return status == http.StatusOK })
	d.showsLog("nas", "web")
	op := d.begin("update", "web")
	eventually(t, "the new container is there", func() bool { return len(d.operation(op.ID).Steps) >= 4 })
	stop()
	stop = host.startAgent()
	ended := d.ended(op.ID)
	t.Logf("killed in the middle: %s", says(ended))
	switch ended.State {
	case operation.Succeeded:
		only(t, engine, "web", p.new)
	case operation.RolledBack:
		only(t, engine, "web", p.old)
		offered("1.1.0")
		if again := d.ended(d.begin("update", "web").ID); again.State != operation.Succeeded {
			t.Fatalf("the next one: %s", says(again))
		}
		only(t, engine, "web", p.new)
	default:
		t.Fatalf("an agent that was killed leaves: %s", says(ended))
	}
	works := p.new
	p.push(t, "1.2.0", `HEALTHCHECK --interval=200ms --timeout=5s --retries=1 CMD ["/main", "health", "u"]`)
	offered("1.2.0")
	failed := d.ended(d.begin("update", "web").ID)
	if failed.State != operation.RolledBack || failed.Outcome == nil || failed.Outcome.Reason.Code != "unhealthy" {
		t.Errorf("an image that does not get healthy: %s", says(failed))
	}
	only(t, engine, "web", works)
	for _, id := range []string{op.ID, failed.ID} {
		if ends := d.ends(id); len(ends) != 1 {
			t.Errorf("operation %s ended %v", id, ends)
		}
	}
	stop()
}

// TestAgentUpdatesItself where it runs in a container: the old agent comes back where the new one does not work.
func TestAgentUpdatesItself(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: takes half a minute")
	}
	engine, registry := dockertest.Start(t), startRegistry(t)
	path, err := built()
	must(t, err)
	binary, err := os.ReadFile(path)
	must(t, err)
	d := install(t, "DOCKER_HOST=unix:///nowhere.sock", "DOGWATCH_WATCHER_AGENT_NAS_UPDATE=true",
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry).start()
	c := &contained{daemon: d, engine: engine, repo: registry + "/team/dogwatch", binary: binary}
	image := c.push("1.0.0")
	host := install(t)
	host.join(d, "nas")
	dir := filepath.Dir(strings.TrimPrefix(engine.Host, "unix://"))
	t.Cleanup(func() { // the network of the host, which outlives the engine
		_ = syscall.Unmount(filepath.Join(dir, "exec", "netns", "default"), syscall.MNT_DETACH)
	})
	made, err := engine.API.ContainerCreate(t.Context(), &container.Config{
		Image: c.repo + ":1.0.0", Cmd: []string{"agent"}, Env: []string{
			"DOGWATCH_STORE_PATH=/store", "DOGWATCH_WATCHER_LOCAL_SOCKET=/run/engine/engine.sock",
			"DOGWATCH_WATCHER_LOCAL_UPDATE=true",
		},
	}, &container.HostConfig{
		NetworkMode: "host", ReadonlyRootfs: true, Binds: []string{dir + ":/run/engine", host.store + ":/store"},
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyUnlessStopped},
	}, nil, nil, "dogwatch-agent")
	must(t, err)
	must(t, engine.API.ContainerStart(t.Context(), made.ID, container.StartOptions{}))
	t.Cleanup(func() {
		if t.Failed() {
			for _, one := range containersOf(t, engine, "dogwatch-agent") {
				t.Logf("%s is %s\n%s", one.Names[0], one.Status, tail(c.logs(one.ID), 30))
			}
		}
	})
	for _, v := range []struct {
		name, tag string
		changes   []string
		want      operation.State
	}{
		{"ends with an error", "1.1.0", []string{`ENTRYPOINT ["/bin/dogwatch","nonsense"]`}, operation.RolledBack},
		{"works", "1.2.0", nil, operation.Succeeded},
	} {
		next := c.push(v.tag, v.changes...)
		eventually(t, v.name+": the update is offered", func() bool {
			d.watch()
			i := slices.IndexFunc(d.containers(), func(c sdk.Container) bool { return c.Name == "dogwatch-agent" })
			return i >= 0 && d.containers()[i].UpdateAvailable && d.containers()[i].Result.Tag == v.tag
		})
		op := d.ended(d.begin("update", "dogwatch-agent").ID)
		if op.State != v.want {
			t.Errorf("%s: the operation is %s", v.name, says(op))
		}
		if v.want == operation.Succeeded {
			image = next
		}
		if ends := d.ends(op.ID); len(ends) != 1 {
			t.Errorf("%s: ends %v", v.name, ends)
		}
		only(t, engine, "dogwatch-agent", image)
	}
	eventually(t, "the new agent is connected", func() bool {
		_, text := d.request(http.MethodGet, "/api/agents", "")
		return strings.Contains(string(text), `"connected":true`)
	})
}

// TestHostIsWatchedByItsAgent: a host that only dials out joins by a token, its containers are listed and told about
// once, they stay while its agent is gone, and a revoked agent is forgotten.
func TestHostIsWatchedByItsAgent(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	p := newProduct(t, engine, registry+"/team/web")
	p.run(t, "web", "1.0.0")
	told, to := startSink(t)
	at := install(t, "DOCKER_HOST=unix:///nowhere.sock", "DOGWATCH_TRIGGER_HTTP_TOLD_URL="+to,
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry)
	d := at.start()
	address, err := url.Parse(d.url)
	must(t, err)
	at.env = append(slices.Clone(at.env), "DOGWATCH_SERVER_PORT="+address.Port())
	host := install(t, "DOGWATCH_WATCHER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"))
	if _, problems, code := host.run("agent"); code == 0 || !strings.Contains(problems, "join") {
		t.Errorf("an agent that has not joined ends with %d: %s", code, problems)
	}
	token := host.join(d, "nas")
	other := install(t)
	if _, problems, code := other.run("agent", "join", d.url, "--token", token); code == 0 || !strings.Contains(problems, "used") {
		t.Errorf("the token works twice: %d %s", code, problems)
	}
	stop := host.startAgent()
	ofAgent := func(c sdk.Container) bool { return c.Watcher == "nas" && c.Name == "web" }
	eventually(t, "the container of the agent's host is listed, with its update", func() bool {
		i := slices.IndexFunc(d.containers(), ofAgent)
		return i >= 0 && d.containers()[i].UpdateAvailable
	})
	eventually(t, "told", func() bool { return len(told.all()) == 1 })

	stop()
	eventually(t, "the watcher says since when its rows are old", func() bool {
		_, view := d.request(http.MethodGet, "/api/watchers/agent/nas", "")
		return strings.Contains(string(view), `"asOf"`)
	})
	if !slices.ContainsFunc(d.containers(), ofAgent) {
		t.Error("the container is gone with its agent")
	}
	if said, problems, code := at.run("doctor", "agent", "nas"); code != 1 || !strings.Contains(said, "it was last at") {
		t.Errorf("doctor agent ends with %d: %s %s", code, said, problems)
	}

	host.startAgent()
	eventually(t, "it is connected again", func() bool {
		_, view := d.request(http.MethodGet, "/api/watchers/agent/nas", "")
		return strings.Contains(string(view), `"ready"`) && !strings.Contains(string(view), `"asOf"`)
	})
	if _, said, _ := host.run("agent", "doctor"); strings.Contains(said, "FAIL") {
		t.Errorf("doctor: %s", said)
	}
	if said, problems, code := at.run("doctor", "agent", "nas"); code != 0 || !strings.Contains(said, "it lists 1 containers") {
		t.Errorf("doctor agent ends with %d: %s %s", code, said, problems)
	}
	if got := told.all(); len(got) != 1 {
		t.Errorf("told %d times: %q", len(got), got)
	}

	if status, text := d.request(http.MethodDelete, "/api/agents/nas", ""); status != http.StatusNoContent {
		t.Fatalf("revoke: %d %s", status, text)
	}
	eventually(t, "a revoked agent is forgotten", func() bool { return !slices.ContainsFunc(d.containers(), ofAgent) })
}
