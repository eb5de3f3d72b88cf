package e2e

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// TestUpdateReturnsFromUnhealthyImages updates to images that do not work. The old
// container is back, as it was, and that is in the log once. A good image after it is used.
func TestUpdateReturnsFromUnhealthyImages(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	for name, c := range map[string]struct{ change, code string }{
		"fails-late":  {`HEALTHCHECK --interval=400ms --timeout=5s --retries=4 CMD ["/main", "health", "u"]`, "unhealthy"},
		"flaps":       {`HEALTHCHECK --interval=800ms --timeout=5s --retries=1 CMD ["/main", "health", "uhuhuhuhuhuhuhuh"]`, "unhealthy"},
		"ends":        {`CMD ["get", "127.0.0.1:1"]`, "exited"},
		"never-ready": {`HEALTHCHECK --interval=1h --timeout=5s CMD ["/main", "health", "h"]`, "unhealthy"},
		"cannot-run":  {`ENTRYPOINT ["/missing"]`, "step.start"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := act(t, engine, registry, name, []string{c.change}, func(c *container.Config, _ *container.HostConfig) {
				c.Labels["dogwatch.probe.window"] = "10s"
			})
			op := a.d.ended(a.d.begin("update", a.name).ID)
			t.Logf("the operation is %s", says(op))
			if op.State != operation.RolledBack || op.Outcome == nil || op.Outcome.Reason.Code != c.code ||
				op.Outcome.Container != a.id {
				t.Errorf("the operation is %s", says(op))
			}
			if ends := a.d.ends(op.ID); len(ends) != 1 || ends[0] != event.OperationRolledBack {
				t.Errorf("its end is in the log as %v", ends)
			}
			sent := func(event string) int { return strings.Count(strings.Join(a.hook.all(), "\n"), `"event":"`+event+`"`) }
			eventually(t, "a message says that the old one is back", func() bool { return sent("update.rolledback") == 1 })
			if said := op.Outcome.Evidence; said == nil || said.Container != a.name || said.Status == "" {
				t.Errorf("what the new container left is %+v", said)
			}
			if name == "ends" && !strings.Contains(strings.Join(a.hook.all(), "\n"), "connection refused") {
				t.Error("the message does not have the log of the new container")
			}
			only(t, engine, a.name, a.old)
			if got := containersOf(t, engine, a.name)[0].ID; got != a.id {
				t.Errorf("container %s runs, it was %s", got, a.id)
			}
			a.d.watch()
			if all := a.d.operations(a.name); len(all) != 1 {
				t.Errorf("there are %d operations after another check", len(all))
			}

			a.push(t, "1.2.0")
			a.d.watch()
			succeeded(t, a.d.ended(a.d.begin("update", a.name).ID))
			only(t, engine, a.name, a.new)
			eventually(t, "a message says that the newer one runs", func() bool { return sent("update.applied") == 1 })
			if back, failed := sent("update.rolledback"), sent("update.failed"); back != 1 || failed != 0 {
				t.Errorf("%d messages of a return, %d of a failure", back, failed)
			}
			a.d.stop()
		})
	}
}

// TestUpdateKeepsSharedNetworks updates a container whose network another one uses,
// as behind a VPN, and rolls it back: traffic passes each time, both ways.
func TestUpdateKeepsSharedNetworks(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	_, err := engine.API.NetworkCreate(t.Context(), "lan", network.CreateOptions{
		Driver: "bridge", IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: "10.98.12.0/24"}}},
	})
	must(t, err)
	const vpn = "10.98.12.7"
	a := act(t, engine, registry, "vpn", []string{`CMD ["serve", ":8080", "1.1.0"]`},
		func(c *container.Config, h *container.HostConfig) {
			h.NetworkMode = "lan"
			c.Cmd = nil
			c.Labels["dogwatch.tag.include"] = `^1\.`
		})
	// The one of the scene has no address of its own: it is made again, with one.
	engine.Remove(t, "vpn")
	engine.Image(t, a.repo+":1.0.0", `CMD ["serve", ":8080", "1.0.0"]`)
	made, err := engine.API.ContainerCreate(t.Context(), &container.Config{
		Image: a.repo + ":1.0.0", Labels: map[string]string{"dogwatch.watch": "true"},
	},
		&container.HostConfig{NetworkMode: "lan"},
		&network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{
			"lan": {IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: vpn}}}}, nil, "vpn")
	must(t, err)
	must(t, engine.API.ContainerStart(t.Context(), made.ID, container.StartOptions{}))
	run := func(name, mode string, command ...string) {
		c, err := engine.API.ContainerCreate(t.Context(), &container.Config{Image: a.repo + ":1.0.0", Cmd: command},
			&container.HostConfig{NetworkMode: container.NetworkMode(mode)}, nil, nil, name)
		must(t, err)
		must(t, engine.API.ContainerStart(t.Context(), c.ID, container.StartOptions{}))
	}
	run("torrent", "container:vpn", "serve", ":9090", "torrent")
	run("neighbour", "lan", "wait")

	passes := func(version string) {
		t.Helper()
		for _, c := range []struct{ from, to, want string }{
			{"torrent", "127.0.0.1:8080", version}, {"neighbour", net.JoinHostPort(vpn, "8080"), version},
			{"neighbour", net.JoinHostPort(vpn, "9090"), "torrent"},
		} {
			if got := inside(t, engine, c.from, "/main", "get", c.to); got != c.want {
				t.Errorf("%s gets %q from %s, want %q", c.from, got, c.to, c.want)
			}
		}
		main, err := engine.API.ContainerInspect(t.Context(), "vpn")
		must(t, err)
		follows, err := engine.API.ContainerInspect(t.Context(), "torrent")
		must(t, err)
		if got := string(follows.HostConfig.NetworkMode); got != "container:"+main.ID || !follows.State.Running {
			t.Errorf("torrent is %s in the network of %s", follows.State.Status, got)
		}
		for _, name := range []string{"vpn", "torrent"} {
			if all := containersOf(t, engine, name); len(all) != 1 {
				t.Errorf("there is %s", show(all))
			}
		}
	}
	a.d.watch()
	passes("1.0.0")
	if plan := a.d.plan("vpn"); len(plan.Dependents) != 1 || plan.Dependents[0].Name != "torrent" ||
		plan.Dependents[0].Relation != "network_mode" {
		t.Errorf("the plan has the dependents %s", show(plan.Dependents))
	}
	succeeded(t, a.d.ended(a.d.begin("update", "vpn").ID))
	passes("1.1.0")
	a.d.watch()
	succeeded(t, a.d.ended(a.d.begin("rollback", "vpn").ID))
	passes("1.0.0")

	// One that fails returns with its dependents.
	a.push(t, "1.2.0", `HEALTHCHECK --interval=200ms --timeout=5s --retries=1 CMD ["/main", "health", "u"]`,
		`CMD ["serve", ":8080", "1.2.0"]`)
	a.d.watch()
	if op := a.d.ended(a.d.begin("update", "vpn").ID); op.State != operation.RolledBack {
		t.Errorf("the operation is %s", says(op))
	}
	passes("1.0.0")
	a.d.stop()
}

// inside runs a command in a container and returns what it prints, within some time.
func inside(t testing.TB, engine *dockertest.Daemon, name string, command ...string) string {
	t.Helper()
	var said string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		made, err := engine.API.ContainerExecCreate(t.Context(), name, container.ExecOptions{
			Cmd: command, AttachStdout: true, AttachStderr: true,
		})
		must(t, err)
		stream, err := engine.API.ContainerExecAttach(t.Context(), made.ID, container.ExecStartOptions{})
		must(t, err)
		var out, errors bytes.Buffer
		_, err = stdcopy.StdCopy(&out, &errors, stream.Reader)
		stream.Close()
		must(t, err)
		state, err := engine.API.ContainerExecInspect(t.Context(), made.ID)
		must(t, err)
		if said = strings.TrimSpace(out.String() + errors.String()); state.ExitCode == 0 {
			return said
		}
	}
	return "failed: " + said
}
