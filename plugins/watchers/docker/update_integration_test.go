package docker

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/go-connections/nat"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func shapes() map[string]shape {
	yes, three, swap, pids := true, 3, int64(64<<20), int64(50)
	on := func(net string, e *network.EndpointSettings) map[string]*network.EndpointSettings {
		return map[string]*network.EndpointSettings{net: e}
	}
	host := func(h container.HostConfig) shape { return shape{Host: h} }
	config := func(c container.Config) shape { return shape{Config: c} }
	return map[string]shape{
		"plain":         {},
		"stopped":       {stopped: true},
		"paused":        {paused: true},
		"env":           config(container.Config{Env: []string{"MINE=1", "LEVEL=debug"}}),
		"labels":        config(container.Config{Labels: map[string]string{"mine": "1", "version": "own"}}),
		"command":       config(container.Config{Cmd: []string{"own"}}),
		"entrypoint":    config(container.Config{Entrypoint: []string{"/main", "x"}}),
		"no-entrypoint": config(container.Config{Entrypoint: []string{""}, Cmd: []string{"/main", "y"}}),
		"user":          config(container.Config{User: "1000:1000"}),
		"workdir":       config(container.Config{WorkingDir: "/tmp"}),
		"hostname":      config(container.Config{Hostname: "own", Domainname: "example.org"}),
		"tty":           config(container.Config{Tty: true, OpenStdin: true}),
		"stop":          config(container.Config{StopSignal: "SIGQUIT", StopTimeout: &three}),
		"health-off":    config(container.Config{Healthcheck: &container.HealthConfig{Test: []string{"NONE"}}}),
		"expose":        config(container.Config{ExposedPorts: nat.PortSet{"9000/udp": {}}}),
		"volume":        config(container.Config{Volumes: map[string]struct{}{"/own": {}}}),
		"restart": host(container.HostConfig{
			RestartPolicy: container.RestartPolicy{Name: "on-failure", MaximumRetryCount: 3},
		}),
		"restart-always": host(container.HostConfig{RestartPolicy: container.RestartPolicy{Name: "always"}}),
		"init":           host(container.HostConfig{Tmpfs: map[string]string{"/run": "size=1m"}}),
		"named-volume":   host(container.HostConfig{Binds: []string{"data:/data"}}),
		"bind":           host(container.HostConfig{Binds: []string{"/tmp:/host:ro"}}),
		"mounts": host(container.HostConfig{Mounts: []mount.Mount{
			{Type: mount.TypeVolume, Source: "other", Target: "/data"}, {Type: mount.TypeTmpfs, Target: "/t"},
		}}),
		"slash-mount": host(container.HostConfig{Mounts: []mount.Mount{{Type: mount.TypeVolume,
			Target: "/anon2/"}}}),
		"tmpfs-volume": host(container.HostConfig{Mounts: []mount.Mount{{Type: mount.TypeVolume, Target: "/a/"},
			{Type: mount.TypeTmpfs, Target: "/t"}}}),
		"anonymous-mount": host(container.HostConfig{Mounts: []mount.Mount{{Type: mount.TypeVolume, Target: "/anon"}}}),
		"read-only":       host(container.HostConfig{ReadonlyRootfs: true}),
		// starting one takes rights that a test may not have
		"privileged": {Host: container.HostConfig{Privileged: true}, stopped: true},
		"caps":       host(container.HostConfig{CapAdd: []string{"NET_ADMIN"}, CapDrop: []string{"MKNOD"}}),
		"security":   host(container.HostConfig{SecurityOpt: []string{"no-new-privileges"}}),
		"devices": host(container.HostConfig{
			Resources: container.Resources{
				Devices: []container.DeviceMapping{{
					PathOnHost: "/dev/null", PathInContainer: "/dev/own", CgroupPermissions: "rwm",
				}},
			},
		}),
		"ulimits": host(container.HostConfig{
			Resources: container.Resources{Ulimits: []*container.Ulimit{{Name: "nofile", Soft: 1024, Hard: 2048}}},
		}),
		"shm": host(container.HostConfig{ShmSize: swap}),
		"dns": host(container.HostConfig{
			DNS: []string{"192.0.2.1"}, DNSSearch: []string{"example.org"}, ExtraHosts: []string{"db:192.0.2.2"},
		}),
		"groups": host(container.HostConfig{GroupAdd: []string{"44"}, OomScoreAdj: 100}),
		"log": host(container.HostConfig{
			LogConfig: container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "1m"}},
		}),
		// its mount would outlive the engine
		"host-network":  {Host: container.HostConfig{NetworkMode: "host"}, stopped: true},
		"host-pid":      host(container.HostConfig{PidMode: "host", IpcMode: "host"}),
		"shareable-ipc": host(container.HostConfig{IpcMode: "shareable"}),
		"annotations": config(container.Config{
			Labels: map[string]string{"com.docker.compose.project": "p", "com.docker.compose.service": "s"},
		}),
		"oom":     host(container.HostConfig{Init: &yes, Tmpfs: map[string]string{"/cache": ""}}),
		"sysctls": host(container.HostConfig{Sysctls: map[string]string{"net.ipv4.ip_unprivileged_port_start": "0"}}),
		"limits": host(container.HostConfig{
			Resources: container.Resources{Memory: 64 << 20, MemoryReservation: 32 << 20, NanoCPUs: 5e8, PidsLimit: &pids},
		}),
		"cpu-shares": host(container.HostConfig{Resources: container.Resources{CPUShares: 512, CpusetCpus: "0"}}),
		"device-rules": host(container.HostConfig{
			Resources: container.Resources{DeviceCgroupRules: []string{"c 1:3 rwm"}},
		}),
		"uts-host": host(container.HostConfig{UTSMode: "host"}),
		"masked": host(container.HostConfig{
			MaskedPaths: []string{"/proc/kcore"}, ReadonlyPaths: []string{"/proc/sys"},
		}),
		"ports": {
			Config: container.Config{ExposedPorts: nat.PortSet{"9000/tcp": {}}},
			Host: container.HostConfig{
				NetworkMode: "front", PortBindings: nat.PortMap{"9000/tcp": {{HostIP: "127.0.0.1", HostPort: "18099"}}},
			}, stopped: true,
		},
		"publish-all":  {Host: container.HostConfig{NetworkMode: "front", PublishAllPorts: true}, stopped: true},
		"volumes-from": host(container.HostConfig{VolumesFrom: []string{"donor:ro"}}),
		"attached":     config(container.Config{AttachStdout: true, AttachStderr: true}),
		"link-local": {
			Host: container.HostConfig{NetworkMode: "front"},
			Net:  on("front", &network.EndpointSettings{DriverOpts: map[string]string{"own": "1"}}),
		},
		"paused-network": {Host: container.HostConfig{NetworkMode: "front"}, paused: true},
		"network":        host(container.HostConfig{NetworkMode: "front"}),
		"aliases": {
			Host: container.HostConfig{NetworkMode: "front"},
			Net:  on("front", &network.EndpointSettings{Aliases: []string{"one", "two"}}),
		},
		"static": {
			Host: container.HostConfig{NetworkMode: "front"},
			Net:  on("front", &network.EndpointSettings{IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: "10.98.1.77"}}),
		},
		"mac": {
			//lint:ignore SA1019 as engines of API 1.41 know it
			Config: container.Config{MacAddress: "02:11:22:33:44:55"}, Host: container.HostConfig{NetworkMode: "front"},
		},
		"two-networks": {
			Host: container.HostConfig{NetworkMode: "front"},
			Net:  on("front", &network.EndpointSettings{Aliases: []string{"web"}}),
			Connect: on("back", &network.EndpointSettings{
				Aliases: []string{"app"}, IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: "10.98.2.78"},
			}),
		},
	}
}

// TestUpdateLeavesWhatTheUserSet updates containers of many shapes, and holds each
// against one that was created from the new image with the same settings. On each day
// others of them run.
func TestUpdateLeavesWhatTheUserSet(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for name, subnet := range map[string]string{"front": "10.98.1.0/24", "back": "10.98.2.0/24"} {
		_, err := l.API.NetworkCreate(t.Context(), name, network.CreateOptions{
			Driver: "bridge", IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet}}},
		})
		check(t, err)
	}
	all := shapes()
	if len(all) < 46 {
		t.Errorf("%d shapes", len(all))
	}
	for name, s := range newerShapes() {
		if versions.GreaterThanOrEqualTo(l.API.ClientVersion(), s.since) {
			all[name] = s
		}
	}
	t.Logf("%d shapes", len(all))
	l.make(t, "donor", "app:1", shape{Config: container.Config{Volumes: map[string]struct{}{"/donated": {}}}}, false)
	room, runs := make(chan struct{}, 6), dockertest.Moments(t, 3, 0)
	t.Run("shapes", func(t *testing.T) {
		for i, name := range slices.Sorted(maps.Keys(all)) {
			s := all[name]
			// How a container is created from another is the same whether it runs. What engines say of networks is not.
			s.stopped = s.stopped || !runs(i) && s.Host.NetworkMode == "" && !s.paused
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				room <- struct{}{}
				defer func() { <-room }()
				l.testShape(t, name, s)
			})
		}
	})
}

func (l *lab) testShape(t *testing.T, name string, s shape) {
	id := l.make(t, name, "app:1", s, true)
	before := l.inspect(t, id)
	req := l.request(id)
	plan := l.plan(t, req)
	out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
	check(t, err)
	if out.State != watcher.Updated || len(out.Warnings) > 0 {
		t.Fatalf("%+v", out)
	}
	want := l.inspect(t, l.make(t, "fresh-"+name, "app:2", s, false))
	got := l.inspect(t, name)
	if got.ID != out.ContainerID || got.ID == id || got.Image != l.new {
		t.Errorf("the container is %s with the image %s", got.ID, got.Image)
	}
	if got.State.Status != before.State.Status {
		t.Errorf("is %s, was %s", got.State.Status, before.State.Status)
	}
	for _, m := range before.Mounts { // no volume is lost
		if !slices.ContainsFunc(got.Mounts, func(g container.MountPoint) bool {
			// each has a copy of it
			return g.Destination == m.Destination && g.Name == m.Name && (g.Source == m.Source || m.Type == mount.TypeImage)
		}) {
			t.Errorf("mount %s is lost: %v", m.Destination, got.Mounts)
		}
	}
	donor := replace.Container{InspectResponse: l.inspect(t, "donor")}
	replace.CarryVolumes(replace.Container{InspectResponse: before}.Among([]replace.Container{donor}), want.HostConfig)
	if g, w := settings(t, got), settings(t, want); g != w {
		t.Errorf("got %s\nwant %s", g, w)
	}
	for name, wanted := range s.Net { // not one of the settings: an engine chooses one too
		if wanted.MacAddress != "" && got.NetworkSettings.Networks[name].MacAddress != wanted.MacAddress {
			t.Errorf("the MAC address on %s is %s, want %s", name, got.NetworkSettings.Networks[name].MacAddress,
				wanted.MacAddress)
		}
	}
	if left, err := l.API.ContainerInspect(t.Context(), id); err == nil {
		t.Errorf("the old container is left as %s", left.Name)
	}
	check(t, l.API.ContainerRemove(t.Context(), name, container.RemoveOptions{Force: true}))
	check(t, l.API.ContainerRemove(t.Context(), "fresh-"+name, container.RemoveOptions{}))
}

var errGone = errors.New("the host is gone")

// TestUpdateInterruptedAnywhere stops the host at every call of the journal. After
// Recover exactly one container has the name and runs, and nothing else is left.
func TestUpdateInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for call, updated := 1, false; !updated; call++ {
		for _, fail := range []error{errGone, watcher.ErrStop} {
			if fail == watcher.ErrStop && call%2 == 0 {
				continue // a host stops an update as a step begins
			}
			id := l.make(t, "web", "app:1", shape{}, true)
			req := l.request(id)
			op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
			j := &journal{failAt: call, fail: fail}
			out, err := l.docker.Apply(t.Context(), op, j)
			if err != nil {
				op.Steps = j.steps
				again := &journal{steps: slices.Clone(j.steps)}
				out, err = l.docker.Recover(t.Context(), op, again)
				check(t, err)
				op.Steps = again.steps
				if second, err := l.docker.Recover(t.Context(), op, &journal{}); err != nil || second.State != out.State {
					t.Errorf("call %d: recovered again: %+v, %v", call, second, err)
				}
			}
			updated = call > len(op.Plan.Steps)*2
			image := l.old
			if out.State == watcher.Updated {
				image = l.new
			}
			l.only(t, "web", image)
			t.Logf("call %d, %v: %s (%s)", call, fail, out.State, out.Reason.Code)
			if updated && out.State != watcher.Updated {
				t.Errorf("not updated: %+v", out)
			}
			l.Remove(t, "web")
		}
	}
}

// only checks that one container is left, which runs.
func (l *lab) only(t *testing.T, name, image string) {
	t.Helper()
	all, err := l.API.ContainerList(t.Context(), container.ListOptions{All: true})
	check(t, err)
	if len(all) != 1 || engine.Name(all[0]) != name || all[0].State != "running" || all[0].ImageID != image {
		for _, c := range all {
			t.Errorf("%s: %s, image %s, want one that runs %s", engine.Name(c), c.State, engine.Short(c.ImageID), engine.Short(image))
		}
	}
}

// TestUpdateReturnsFromAnImageThatFails covers images whose health check fails or never passes.
func TestUpdateReturnsFromAnImageThatFails(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for name, changes := range map[string][]string{
		"exits":    {`ENTRYPOINT ["/missing"]`},
		"fails":    {`HEALTHCHECK --interval=200ms --timeout=1s --retries=1 CMD ["/missing"]`},
		"no-start": {`HEALTHCHECK --interval=1h --timeout=1s CMD ["/main"]`},
	} {
		t.Run(name, func(t *testing.T) {
			l.new = l.Image(t, "app:bad-"+name, changes...)
			id := l.make(t, "web", "app:1", shape{}, true)
			defer l.Remove(t, "web")
			before := settings(t, l.inspect(t, id))
			req := l.request(id)
			req.Rules.Health.Window = 3 * time.Second
			out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}, &journal{})
			check(t, err)
			if out.State != watcher.RolledBack || out.Reason.Text == "" || strings.Contains(out.Reason.Text, "no answer") {
				t.Errorf("%+v", out)
			}
			t.Log(out.Reason)
			l.only(t, "web", l.old)
			if after := l.inspect(t, "web"); after.ID != id || settings(t, after) != before {
				t.Errorf("got %s\nwant %s", settings(t, after), before)
			}
		})
	}
}

// TestUpdateKeepsTheNetworkOfDependents: what is in the network of the updated container,
// as behind a VPN, reaches a server through it after an update and after a return.
func TestUpdateKeepsTheNetworkOfDependents(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.bridge(t, "front", "10.98.7.0/24")
	l.make(t, "server", "app:1", shape{
		Config: container.Config{Cmd: []string{"serve", ":8080", "hello"}}, Host: container.HostConfig{NetworkMode: "front"},
		Net: map[string]*network.EndpointSettings{
			"front": {IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: "10.98.7.9"}},
		},
	}, true)
	for name, bad := range map[string]bool{"updated": false, "back": true} {
		t.Run(name, func(t *testing.T) {
			vpn := l.make(t, "vpn", "app:1", shape{Host: container.HostConfig{NetworkMode: "front"}}, true)
			client := l.make(t, "client", "app:1", shape{
				Host: container.HostConfig{NetworkMode: container.NetworkMode("container:" + vpn)},
			}, true)
			req := l.request(vpn)
			if bad {
				req.Image.ID = l.Image(t, "app:bad", `ENTRYPOINT ["/missing"]`)
			}
			plan := l.plan(t, req)
			out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
			check(t, err)
			main, follows := l.inspect(t, "vpn"), l.inspect(t, "client")
			if want := map[bool]watcher.OutcomeState{false: watcher.Updated, true: watcher.RolledBack}[bad]; out.State != want {
				t.Errorf("%+v", out)
			}
			if bad != (main.ID == vpn) || bad != (follows.ID == client) || !main.State.Running || !follows.State.Running {
				t.Errorf("vpn is %s (%s), client %s (%s)", main.ID, main.State.Status, follows.ID, follows.State.Status)
			}
			if got := string(follows.HostConfig.NetworkMode); got != "container:"+main.ID {
				t.Errorf("the client's network is %s", got)
			}
			if code := l.run(t, "client", "/main", "get", "10.98.7.9:8080"); code != 0 {
				t.Errorf("the client ends with code %d", code)
			}
			if l.run(t, "client", "/main", "get", "10.98.7.9:8081") == 0 {
				t.Error("a port that nothing serves is reached")
			}
			all, err := l.API.ContainerList(t.Context(), container.ListOptions{All: true})
			check(t, err)
			if len(all) != 3 {
				t.Errorf("%d containers are left", len(all))
			}
			l.Remove(t, "client")
			l.Remove(t, "vpn")
		})
	}
}

// TestPlanRequestsEachContainerOnce: a plan costs a request for each container of the
// engine, since the list does not say whose processes or IPC one has, and few others.
func TestPlanRequestsEachContainerOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	web := l.make(t, "web", "app:1", shape{}, true)
	count := func() (n int64) {
		var calls atomic.Int64
		l.docker = l.behind(t, func(w http.ResponseWriter, r *http.Request, engine http.Handler) {
			calls.Add(1)
			engine.ServeHTTP(w, r)
		})
		l.plan(t, l.request(web))
		return calls.Load()
	}
	alone := count()
	for i := range 10 {
		l.make(t, fmt.Sprintf("other%d", i), "app:1", shape{}, false)
	}
	if got := count(); got != alone+10 || alone > 8 {
		t.Errorf("%d requests alone, %d with ten others", alone, got)
	}
}
