package docker

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-connections/nat"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestUpdateOfHardShapes are containers that users have and tests had not.
func TestUpdateOfHardShapes(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for name, test := range map[string]func(*lab, *testing.T){
		"restart loop":         (*lab).testRestartLoop,
		"partial health check": (*lab).testPartialHealthCheck,
		"endless stop":         (*lab).testEndlessStop,
		"published port":       (*lab).testPublishedPort,
		"several links":        (*lab).testSeveralLinks,
		"volumes":              (*lab).testVolumes,
		"volumes of another":   (*lab).testVolumesFrom,
		"unhealthy before":     (*lab).testUnhealthyBefore,
		"user meanwhile":       (*lab).testUserMeanwhile,
		"compose profile":      (*lab).testComposeProfile,
		"self behind another":  (*lab).testSelfInSharedNetwork,
	} {
		t.Run(name, func(t *testing.T) { test(l, t) })
	}
}

// wait waits until a container is as wanted.
func (l *lab) wait(t *testing.T, name string, wanted func(container.InspectResponse) bool) container.InspectResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		c, err := l.API.ContainerInspect(ctx, name)
		check(t, err)
		if wanted(c) {
			return c
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// testRestartLoop: what keeps restarting is updated, and loops again if the new image does not work either.
func (l *lab) testRestartLoop(t *testing.T) {
	ends := []string{"get", "127.0.0.1:1"} // nothing listens there
	always := container.HostConfig{RestartPolicy: container.RestartPolicy{Name: "always"}}
	// Engines wait twice as long before each restart: it does not run while the update is planned.
	loops := func(c container.InspectResponse) bool { return c.State.Restarting && c.RestartCount >= 5 }
	l.Image(t, "app:loops", `CMD ["get", "127.0.0.1:1"]`)
	bad := l.Image(t, "app:bad", `ENTRYPOINT ["/missing"]`)
	for name, test := range map[string]struct {
		image string
		want  watcher.OutcomeState
	}{"works": {l.new, watcher.Updated}, "fails": {bad, watcher.RolledBack}} {
		l := *l
		l.new = test.image
		id := l.make(t, "looping", "app:loops", shape{Host: always}, true)
		l.wait(t, id, loops)
		out, plan, _ := l.apply(t, id, watcher.UpdateRules{Hooks: watcher.Hooks{Pre: []string{"/main", "health", "h"}}})
		if out.State != test.want || plan.Steps[0].Code != watcher.StepStop {
			t.Errorf("%s: %+v after %v", name, out, plan.Steps)
		}
		c := l.inspect(t, "looping")
		if c.HostConfig.RestartPolicy.Name != "always" || test.want == watcher.Updated && !c.State.Running {
			t.Errorf("%s: it is %s, with the policy %v", name, c.State.Status, c.HostConfig.RestartPolicy)
		}
		if test.want == watcher.RolledBack {
			l.wait(t, id, loops)
		}
		l.Remove(t, "looping")
	}
	vpn := l.make(t, "vpn", "app:1", shape{}, true)
	client := shape{Host: always}
	client.Cmd, client.Host.NetworkMode = ends, container.NetworkMode("container:"+vpn)
	l.wait(t, l.make(t, "client", "app:1", client, true), loops)
	out, _, _ := l.apply(t, vpn, watcher.UpdateRules{})
	if out.State != watcher.Updated || len(out.Warnings) != 1 || out.Warnings[0].Code != replace.WarnUnwell {
		t.Errorf("with a client that loops: %+v", out)
	}
	if c := l.wait(t, "client", loops); c.HostConfig.RestartPolicy.Name != "always" {
		t.Errorf("the client has the policy %v", c.HostConfig.RestartPolicy)
	}
	l.Remove(t, "client")
	l.Remove(t, "vpn")
}

// testPartialHealthCheck: what the user changed of a health check stays, and the rest is the new image's.
func (l *lab) testPartialHealthCheck(t *testing.T) {
	l.Image(t, "app:checked", `HEALTHCHECK --interval=1h --timeout=9s --retries=9 CMD ["/missing"]`)
	m := *l
	m.new = l.Image(t, "app:checks", `HEALTHCHECK --interval=2h --timeout=8s --retries=8 CMD ["/main", "health", "h"]`)
	id := m.make(t, "checked", "app:checked", shape{Config: container.Config{Healthcheck: &container.HealthConfig{
		Interval: 200 * time.Millisecond, Retries: 3,
	}}}, true)
	defer m.Remove(t, "checked")
	out, _, _ := m.apply(t, id, watcher.UpdateRules{})
	h := m.inspect(t, "checked").Config.Healthcheck
	own := h.Interval == 200*time.Millisecond && h.Retries == 3
	if out.State != watcher.Updated || !own || h.Test[1] != "/main" || h.Timeout != 8*time.Second {
		t.Errorf("%+v; %+v", out, h)
	}
}

// testEndlessStop: a container that may take any time to stop is waited for, and runs again
// if that was interrupted.
func (l *lab) testEndlessStop(t *testing.T) {
	endless := -1
	s := shape{Config: container.Config{Cmd: []string{"slow", "2s"}, StopTimeout: &endless}}
	margin := l.docker.updater.StopMargin
	l.docker.updater.StopMargin = 300 * time.Millisecond
	defer func() { l.docker.updater.StopMargin = margin }()
	out, _, _ := l.apply(t, l.make(t, "slow", "app:1", s, true), watcher.UpdateRules{})
	if out.State != watcher.Updated {
		t.Errorf("%+v", out)
	}
	l.Remove(t, "slow")

	id := l.make(t, "slow", "app:1", s, true)
	defer l.Remove(t, "slow")
	ctx, kill := context.WithCancel(t.Context())
	req, j := l.request(id), &journal{}
	j.begun = func(s watcher.Step) {
		if s.Code == watcher.StepStop {
			time.AfterFunc(500*time.Millisecond, kill) // the engine has the request by then
		}
	}
	op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
	if out, err := l.docker.Apply(ctx, op, j); err == nil {
		t.Fatalf("it was not interrupted: %+v", out)
	}
	op.Steps = j.steps
	out, err := l.docker.Recover(t.Context(), op, &journal{steps: j.steps})
	check(t, err)
	c := l.inspect(t, "slow")
	if out.State != watcher.RolledBack || c.ID != id || !c.State.Running {
		t.Errorf("%+v; it is %s", out, c.State.Status)
	}
	// The engine is at no stop any more: the container has been started after it.
	if ended, err := time.Parse(time.RFC3339Nano, c.State.FinishedAt); err != nil || ended.Year() < 2000 {
		t.Errorf("it has not ended yet: %s, %v", c.State.FinishedAt, err)
	}
}

// testPublishedPort: a port stays published although the new image exposes another one.
func (l *lab) testPublishedPort(t *testing.T) {
	l.bridge(t, "ports", "")
	s := shape{Host: container.HostConfig{NetworkMode: "ports", PortBindings: nat.PortMap{
		"80/tcp": {{HostIP: "127.0.0.1", HostPort: "18477"}, {HostIP: "127.0.0.1"}},
	}}}
	id := l.make(t, "web", "app:1", s, true) // which exposes 80, and app:2 exposes 81
	defer l.Remove(t, "web")
	out, _, _ := l.apply(t, id, watcher.UpdateRules{})
	c := l.inspect(t, "web")
	set := func(b nat.PortBinding) bool { return b.HostPort == "18477" }
	ports := c.NetworkSettings.Ports["80/tcp"]
	if out.State != watcher.Updated || len(ports) != 2 || !slices.ContainsFunc(ports, set) {
		t.Errorf("%+v; published: %v", out, c.NetworkSettings.Ports)
	}
}

// testSeveralLinks: the engine says them in another order each time.
func (l *lab) testSeveralLinks(t *testing.T) {
	names := []string{"db1", "db2", "db3", "db4", "db5"}
	var s shape
	for _, name := range names {
		l.make(t, name, "app:1", shape{}, true)
		defer l.Remove(t, name)
		s.Host.Links = append(s.Host.Links, name+":"+name)
	}
	req := l.request(l.make(t, "linked", "app:1", s, true))
	defer l.Remove(t, "linked")
	first := l.plan(t, req)
	for range 10 {
		if again := l.plan(t, req); again.State != first.State {
			t.Fatalf("it changed from %s to %s", first.State, again.State)
		}
	}
	out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: first}, &journal{})
	check(t, err)
	links := l.inspect(t, "linked").HostConfig.Links
	slices.Sort(links)
	if out.State != watcher.Updated || len(links) != len(names) || links[0] != "/db1:/linked/db1" {
		t.Errorf("%+v; links %v", out, links)
	}
}

// testVolumes: volumes without a name stay what they are, over several updates.
func (l *lab) testVolumes(t *testing.T) {
	id := l.make(t, "web", "app:1", shape{Host: container.HostConfig{
		Mounts: []mount.Mount{
			{Type: mount.TypeVolume, Target: "/anon2/"}, {Type: mount.TypeVolume, Source: "own", Target: "/own"},
		},
	}}, true)
	volumes := func() map[string]string {
		all := map[string]string{}
		for _, m := range l.inspect(t, "web").Mounts {
			all[m.Destination] = m.Name
		}
		return all
	}
	before := volumes()
	for range 2 {
		out, _, _ := l.apply(t, id, watcher.UpdateRules{})
		if after := volumes(); out.State != watcher.Updated || len(before) != 3 || !maps.Equal(before, after) {
			t.Fatalf("%+v; the volumes were %v, are %v", out, before, after)
		}
		id = out.ContainerID
	}
	check(t, l.API.ContainerRemove(t.Context(), "web", container.RemoveOptions{Force: true, RemoveVolumes: true}))
	for path, name := range before {
		if _, err := l.API.VolumeInspect(t.Context(), name); (err != nil) != (path != "/own") {
			t.Errorf("the volume of %s after docker rm -v: %v", path, err)
		}
	}
}

// testVolumesFrom: who has volumes from a container by its id can be created again after its update.
func (l *lab) testVolumesFrom(t *testing.T) {
	data := l.make(t, "data", "app:1", shape{}, true)
	defer l.Remove(t, "data")
	user := l.make(t, "user", "app:1", shape{Host: container.HostConfig{VolumesFrom: []string{data + ":ro"}}}, true)
	defer l.Remove(t, "user")
	volume := l.inspect(t, "user").Mounts[0].Name
	for range 2 {
		out, _, _ := l.apply(t, l.inspect(t, "data").ID, watcher.UpdateRules{})
		c := l.inspect(t, "user")
		from := l.inspect(t, "data").ID + ":ro"
		if out.State != watcher.Updated || !slices.Equal(c.HostConfig.VolumesFrom, []string{from}) {
			t.Errorf("%+v; volumes from %v, want %s", out, c.HostConfig.VolumesFrom, from)
		}
		if m := c.Mounts; c.ID == user || len(m) != 1 || m[0].Name != volume || m[0].RW || !c.State.Running {
			t.Errorf("mounts %+v, want %s", m, volume)
		}
	}
	out, _, _ := l.apply(t, l.inspect(t, "user").ID, watcher.UpdateRules{})
	if m := l.inspect(t, "user").Mounts; out.State != watcher.Updated || len(m) != 1 || m[0].Name != volume {
		t.Errorf("%+v; mounts %+v", out, m)
	}
}

// testUnhealthyBefore: the new container of an unhealthy one has to stay up, and no more.
func (l *lab) testUnhealthyBefore(t *testing.T) {
	const never = `HEALTHCHECK --interval=1h CMD ["/main"]`
	failing := watcher.HealthGate{Command: []string{"/missing"}, Window: time.Second}
	const fails = `HEALTHCHECK --interval=200ms --timeout=1s --retries=1 CMD ["/missing"]`
	l.Image(t, "app:unhealthy", fails)
	for name, test := range map[string]struct {
		image string
		gate  watcher.HealthGate
		want  watcher.OutcomeState
	}{
		"still unhealthy": {l.Image(t, "app:still", fails, "LABEL a=b"), watcher.HealthGate{}, watcher.Updated},
		"never healthy":   {l.Image(t, "app:never", never), watcher.HealthGate{Window: time.Second}, watcher.Updated},
		"exits": {l.Image(t, "app:bad", `ENTRYPOINT ["/missing"]`), watcher.HealthGate{},
			watcher.RolledBack},
		"a probe says more": {l.Image(t, "app:still"), failing, watcher.RolledBack},
	} {
		m := *l
		m.new = test.image
		id := m.make(t, "unwell", "app:unhealthy", shape{}, true)
		m.wait(t, id, func(c container.InspectResponse) bool { return c.State.Health.Status == container.Unhealthy })
		out, plan, _ := m.apply(t, id, watcher.UpdateRules{Health: test.gate})
		code := func(all []watcher.Reason) bool {
			return slices.ContainsFunc(all, func(r watcher.Reason) bool { return r.Code == replace.WarnUnwell })
		}
		planned, said := len(test.gate.Command) == 0, test.want == watcher.Updated
		if out.State != test.want || code(out.Warnings) != said || code(plan.Warnings) != planned {
			t.Errorf("%s: %+v; planned %v", name, out, plan.Warnings)
		}
		m.Remove(t, "unwell")
	}
}

// testUserMeanwhile: a user renames, stops or removes the new container before the update has
// ended, which says what is true then.
func (l *lab) testUserMeanwhile(t *testing.T) {
	check(t, l.API.ImageTag(t.Context(), l.old, "kept:1")) // which keeps it when unused images are removed
	rename := func(ctx context.Context) { check(t, l.API.ContainerRename(ctx, "web", "mine")) }
	stop := func(ctx context.Context) { check(t, l.API.ContainerStop(ctx, "web", container.StopOptions{})) }
	remove := func(ctx context.Context) {
		check(t, l.API.ContainerRemove(ctx, "web", container.RemoveOptions{Force: true}))
	}
	const before, after = watcher.StepRemove, watcher.StepPrune // the old one is removed in between
	for name, test := range map[string]struct {
		does  func(context.Context)
		at    string
		want  watcher.OutcomeState
		says  string // in its reason or a warning
		left  string // the name of what is left
		image string
	}{
		"renamed while it is waited for": {rename, watcher.StepHealth, watcher.Updated, "renamed it to mine",
			"mine", l.new},
		"stopped while it is waited for": {stop, watcher.StepHealth, watcher.RolledBack, "the new container ended with exit code",
			"web", l.old},
		"removed while it is waited for": {remove, watcher.StepHealth, watcher.RolledBack, "has removed the new web",
			"web", l.old},
		"stopped before": {stop, before, watcher.RolledBack, "the new container ended with exit code", "web", l.old},
		"removed before": {remove, before, watcher.RolledBack, "has removed the new web", "web", l.old},
		"renamed after":  {rename, after, watcher.Updated, "renamed it to mine", "mine", l.new},
		"stopped after":  {stop, after, watcher.Updated, "it does not run any more", "web", l.new},
		"removed after":  {remove, after, watcher.Broken, "create it again", "", ""},
	} {
		req := l.request(l.make(t, "web", "app:1", shape{}, true))
		req.Rules.Prune = true
		j := &taking{journal: &journal{}, at: test.at, take: test.does}
		out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}, j)
		check(t, err)
		said := out.Reason.Text
		for _, w := range out.Warnings {
			said += w.Text
		}
		if out.State != test.want || !strings.Contains(said, test.says) {
			t.Errorf("%s: %+v", name, out)
		}
		all, err := l.API.ContainerList(t.Context(), container.ListOptions{All: true})
		check(t, err)
		for _, c := range all {
			if engine.Name(c) != test.left || c.ImageID != test.image || c.ID != out.ContainerID {
				t.Errorf("%s: %s is left, %s", name, engine.Name(c), c.State)
			}
			l.Remove(t, c.ID)
		}
		if len(all) == 0 && test.left != "" {
			t.Errorf("%s: nothing is left", name)
		}
	}
}
