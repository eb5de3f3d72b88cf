package e2e

import (
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

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

// TestHostIsWatchedByItsAgent: a host that only dials out joins by a token, its containers are listed and told about
// once, they stay while its agent is gone, and a revoked agent is forgotten.
func TestHostIsWatchedByItsAgent(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	p := newProduct(t, engine, registry+"/team/web")
	p.run(t, "web", "1.0.0")
	told, to := startSink(t)
	d := install(t, "DOCKER_HOST=unix:///nowhere.sock", "DOGWATCH_TRIGGER_HTTP_TOLD_URL="+to,
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry).start()
	host := install(t, "DOGWATCH_WATCHER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"))
	if _, problems, code := host.run("agent"); code == 0 || !strings.Contains(problems, "join") {
		t.Errorf("an agent that has not joined ends with %d: %s", code, problems)
	}
	status, text := d.request(http.MethodPost, "/api/agents", `{"name":"nas"}`)
	if status != http.StatusCreated {
		t.Fatalf("no token: %d %s", status, text)
	}
	_, token, _ := strings.Cut(string(text), `"token":"`)
	token, _, _ = strings.Cut(token, `"`)
	if _, problems, code := host.run("agent", "join", d.url, "--token", token); code != 0 {
		t.Fatalf("join: %s", problems)
	}
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

	host.startAgent()
	eventually(t, "it is connected again", func() bool {
		_, view := d.request(http.MethodGet, "/api/watchers/agent/nas", "")
		return strings.Contains(string(view), `"ready"`) && !strings.Contains(string(view), `"asOf"`)
	})
	if _, said, _ := host.run("agent", "doctor"); strings.Contains(said, "FAIL") {
		t.Errorf("doctor: %s", said)
	}
	if got := told.all(); len(got) != 1 {
		t.Errorf("told %d times: %q", len(got), got)
	}

	if status, text := d.request(http.MethodDelete, "/api/agents/nas", ""); status != http.StatusNoContent {
		t.Fatalf("revoke: %d %s", status, text)
	}
	eventually(t, "a revoked agent is forgotten", func() bool { return !slices.ContainsFunc(d.containers(), ofAgent) })
}
