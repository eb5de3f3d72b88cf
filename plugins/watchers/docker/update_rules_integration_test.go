package docker

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// bridge creates a network; without a subnet it has one that nothing else on the machine uses.
func (l *lab) bridge(t *testing.T, name, subnet string) {
	t.Helper()
	options := network.CreateOptions{Driver: "bridge"}
	if subnet != "" {
		options.IPAM = &network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet}}}
	}
	_, err := l.API.NetworkCreate(t.Context(), name, options)
	check(t, err)
}

// apply plans an update and applies it.
func (l *lab) apply(t *testing.T, id string, rules watcher.UpdateRules) (watcher.Outcome, watcher.Plan, *journal) {
	t.Helper()
	req := l.request(id)
	req.Rules = rules
	plan, j := l.plan(t, req), &journal{}
	out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, j)
	check(t, err)
	return out, plan, j
}

// TestUpdateWaitsForTheProbe covers the probes of labels, each with one that succeeds and one that does not.
func TestUpdateWaitsForTheProbe(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.bridge(t, "front", "")
	serving := shape{
		Config: container.Config{Cmd: []string{"serve", ":8080", "HTTP/1.0 204 No Content\r\n\r\n"}},
		Host:   container.HostConfig{NetworkMode: "front"},
	}
	failing := serving
	failing.Cmd = []string{"serve", ":8080", "HTTP/1.0 503 Not Yet\r\n\r\n"}
	l.make(t, "vpn", "app:1", shape{Host: container.HostConfig{NetworkMode: "front"}}, true)
	behind := serving
	behind.Host.NetworkMode = "container:vpn"
	apart := serving
	apart.Host.NetworkMode = "none"
	for name, test := range map[string]struct {
		shape shape
		gate  watcher.HealthGate
		want  watcher.OutcomeState
	}{
		"http":                {serving, watcher.HealthGate{HTTP: "http://:8080/health"}, watcher.Updated},
		"http status":         {failing, watcher.HealthGate{HTTP: "http://:8080/health"}, watcher.RolledBack},
		"tcp":                 {serving, watcher.HealthGate{TCP: ":8080"}, watcher.Updated},
		"http behind another": {behind, watcher.HealthGate{HTTP: "http://:8080"}, watcher.Updated},
		"tcp without network": {apart, watcher.HealthGate{TCP: ":8080"}, watcher.RolledBack},
		"tcp refused":         {serving, watcher.HealthGate{TCP: ":8081"}, watcher.RolledBack},
		"command": {serving, watcher.HealthGate{Command: []string{"/main", "get", "127.0.0.1:8080"}},
			watcher.Updated},
		"command fails": {serving, watcher.HealthGate{Command: []string{"/main", "get", "127.0.0.1:8081"}},
			watcher.RolledBack},
		"command missing": {serving, watcher.HealthGate{Command: []string{"/missing"}}, watcher.RolledBack},
	} {
		t.Run(name, func(t *testing.T) {
			id := l.make(t, "web", "app:1", test.shape, true)
			defer l.Remove(t, "web")
			test.gate.Window, test.gate.Interval = 3*time.Second, 100*time.Millisecond
			out, _, _ := l.apply(t, id, watcher.UpdateRules{Health: test.gate})
			if out.State != test.want {
				t.Errorf("%+v", out)
			}
			image := l.old
			if test.want == watcher.Updated {
				image = l.new
			} else if out.Reason.Code != "unhealthy" || out.Reason.Text == "" {
				t.Errorf("reason %+v", out.Reason)
			}
			if c := l.inspect(t, "web"); c.Image != image || !c.State.Running {
				t.Errorf("it is %s, with the image %s", c.State.Status, c.Image)
			}
		})
	}
}

// TestUpdateRunsHooks in the old container before anything changes, and in the new one once it works.
func TestUpdateRunsHooks(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	works, fails := []string{"/main", "health", "h"}, []string{"/main", "health", "u"}
	for name, test := range map[string]struct {
		hooks watcher.Hooks
		want  watcher.OutcomeState
		code  string
		steps int // hooks that were run
	}{
		"both": {watcher.Hooks{Pre: works, Post: works}, watcher.Updated, "", 2},
		"pre":  {watcher.Hooks{Pre: fails, Post: works}, watcher.Unchanged, "step.hook", 1},
		"post": {watcher.Hooks{Pre: works, Post: fails}, watcher.RolledBack, "step.hook", 2},
		"too long": {watcher.Hooks{Pre: []string{"/main"}, Timeout: 300 * time.Millisecond}, watcher.Unchanged,
			"step.hook", 1},
		"not there": {watcher.Hooks{Pre: []string{"/missing", "secret"}}, watcher.Unchanged, "step.hook", 1},
	} {
		t.Run(name, func(t *testing.T) {
			id := l.make(t, "web", "app:1", shape{}, true)
			defer l.Remove(t, "web")
			out, plan, j := l.apply(t, id, watcher.UpdateRules{Hooks: test.hooks})
			if out.State != test.want || out.Reason.Code != test.code {
				t.Errorf("%+v", out)
			}
			ran := 0
			for _, s := range j.steps {
				if s.Code == watcher.StepHook {
					ran++
				}
			}
			if ran != test.steps {
				t.Errorf("%d hooks were run, want %d", ran, test.steps)
			}
			if test.want != watcher.Updated {
				if c := l.inspect(t, "web"); c.ID != id || !c.State.Running {
					t.Errorf("the old container is %s", c.State.Status)
				}
			}
			if strings.Contains(out.Reason.Text, "secret") ||
				slices.ContainsFunc(plan.Steps, func(s watcher.Step) bool { return strings.Contains(s.Text, "secret") }) {
				t.Errorf("the command of a hook is shown: %s", out.Reason.Text)
			}
		})
	}
	stopped := l.make(t, "stopped", "app:1", shape{stopped: true}, true)
	if out, _, j := l.apply(t, stopped, watcher.UpdateRules{
		Hooks: watcher.Hooks{Pre: fails, Post: fails},
	}); out.State != watcher.Updated ||
		slices.ContainsFunc(j.steps, func(s watcher.StepRecord) bool { return s.Code == watcher.StepHook }) {
		t.Errorf("hooks in a stopped container: %+v", out)
	}
}

// TestUpdateStopsWithTheSignalOfTheRules: the program ends by SIGINT, and ignores its own signal.
func TestUpdateStopsWithTheSignalOfTheRules(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	limit := 30
	for _, policy := range []container.RestartPolicyMode{"no", "always"} {
		id := l.make(t, "web", "app:1", shape{
			Config: container.Config{StopSignal: "SIGWINCH", StopTimeout: &limit},
			Host:   container.HostConfig{RestartPolicy: container.RestartPolicy{Name: policy}},
		}, true)
		began := time.Now()
		out, _, _ := l.apply(t, id, watcher.UpdateRules{StopSignal: "SIGINT"})
		if took := time.Since(began); out.State != watcher.Updated || policy == "no" && took > 20*time.Second {
			t.Errorf("%s: %+v after %s", policy, out, took)
		}
		l.only(t, "web", l.new)
		check(t, l.API.ContainerRemove(t.Context(), "web", container.RemoveOptions{Force: true}))
	}
}

// TestUpdateKeepsPredecessors covers how many stay, that they stay stopped when the
// engine starts again, and what becomes of their images.
func TestUpdateKeepsPredecessors(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	always := shape{Host: container.HostConfig{RestartPolicy: container.RestartPolicy{Name: "always"}}}
	id := l.make(t, "web", "app:1", always, true)
	images := []string{l.old}
	l.Image(t, "app:mine")
	mine := l.make(t, "web-dogwatch-db", "app:mine", shape{}, false) // which is a user's own, and the oldest
	for i, id := 0, id; i < 3; i++ {
		l.new = l.Image(t, "app:2", "LABEL build="+string(rune('a'+i)))
		images = append(images, l.new)
		req := l.request(id)
		req.Rules = watcher.UpdateRules{Keep: 1, Prune: true}
		plan := l.plan(t, req)
		if want := min(i, 1); len(plan.Backups) != want ||
			want == 1 && (plan.Backups[0].Size < 0 || plan.Backups[0].Image == "" || plan.Backups[0].Created.IsZero()) {
			t.Errorf("update %d: backups %+v", i, plan.Backups)
		}
		renamed := false
		out, err := l.docker.Apply(t.Context(), watcher.Operation{
			ID: "op" + string(rune('1'+i)), Request: req, Plan: plan,
		}, &journal{begun: func(s watcher.Step) {
			renamed = renamed || s.Code == watcher.StepRename
			listed := list(t, l.docker)
			if _, found := listed["web"]; len(listed) > 1 || len(listed) == 1 && !found ||
				s.Code == watcher.StepCreate && !found {
				t.Errorf("update %d: at %s: listed %v", i, s.Code, slices.Sorted(maps.Keys(listed)))
			}
		}})
		check(t, err)
		if !renamed {
			t.Errorf("update %d: steps without %s", i, watcher.StepRename)
		}
		if out.State != watcher.Updated || len(out.Kept) != 1 || len(out.Warnings) > 0 {
			t.Errorf("update %d: %+v", i, out)
		}
		id = out.ContainerID
		time.Sleep(time.Second) // the engine dates containers by the second
	}
	for i, image := range images {
		_, err := l.API.ImageInspect(t.Context(), image)
		if gone := err != nil; gone != (i < 2) { // the last two have containers
			t.Errorf("image %d: gone is %t", i, gone)
		}
	}
	l.Restart(t)
	_, err := l.docker.engine.About(t.Context())
	check(t, err)
	all, err := l.API.ContainerList(t.Context(), container.ListOptions{All: true})
	check(t, err)
	for _, c := range all {
		if kept := strings.HasPrefix(engine.Name(c), "web-dogwatch-"); kept == (c.State == "running") {
			t.Errorf("%s is %s", engine.Name(c), c.State)
		}
	}
	if own := func(c container.Summary) bool { return c.ID == mine }; len(all) != 3 || !slices.ContainsFunc(all, own) {
		t.Errorf("%d containers", len(all))
	}
	// What an image says of predecessors counts for nothing.
	l.Image(t, "app:says", "LABEL "+replace.PredecessorsLabel+"="+mine)
	check(t, l.API.ContainerRename(t.Context(), mine, "says-dogwatch-db"))
	if plan := l.plan(t, l.request(l.make(t, "says", "app:says", shape{}, false))); len(plan.Backups) > 0 {
		t.Errorf("by the image: %+v", plan.Backups)
	}
}

// TestUpdateLeavesForeignContainersAlone: one that took the name in the middle stays,
// and the old one runs again.
func TestUpdateLeavesForeignContainersAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id := l.make(t, "web", "app:1", shape{}, true)
	req := l.request(id)
	op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
	j := &taking{
		journal: &journal{}, at: watcher.StepCreate,
		take: func(ctx context.Context) { l.make(t, "web", "app:1", shape{}, true) },
	}
	out, err := l.docker.Apply(t.Context(), op, j)
	check(t, err)
	if out.State != watcher.Broken || !strings.Contains(out.Reason.Text, "has the name web by now") {
		t.Errorf("%+v", out)
	}
	old, foreign := l.inspect(t, id), l.inspect(t, "web")
	if !old.State.Running || !foreign.State.Running || foreign.ID == id {
		t.Errorf("old %s, foreign %s", old.State.Status, foreign.State.Status)
	}
}

// taking does something as a step begins.
type taking struct {
	*journal
	at   string
	take func(context.Context)
}

func (j *taking) Begin(ctx context.Context, s watcher.Step) error {
	if s.Code == j.at && j.take != nil {
		j.take(ctx)
		j.take = nil
	}
	return j.journal.Begin(ctx, s)
}

// TestUpdateFollowsEveryRelation covers what depends on the updated container, with an image that works and one that
// does not.
func TestUpdateFollowsEveryRelation(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.bridge(t, "front", "10.98.4.0/24")
	labels := func(service, dependsOn string) map[string]string {
		return map[string]string{
			"com.docker.compose.project": "p", "com.docker.compose.service": service, "com.docker.compose.depends_on": dependsOn,
		}
	}
	for name, changes := range map[string][]string{"works": {"LABEL version=3"}, "fails": {`ENTRYPOINT ["/missing"]`}} {
		t.Run(name, func(t *testing.T) {
			l.new = l.Image(t, "app:"+name, changes...)
			base := l.make(t, "base", "app:1", shape{
				Config: container.Config{Labels: labels("base", "")},
				Host:   container.HostConfig{NetworkMode: "front", IpcMode: "shareable"},
			}, true)
			host := func(h container.HostConfig) shape { return shape{Host: h} }
			shapes := map[string]shape{
				"net": host(container.HostConfig{NetworkMode: container.NetworkMode("container:" + base)}),
				"pid": host(container.HostConfig{PidMode: container.PidMode("container:" + base)}),
				"ipc": host(container.HostConfig{IpcMode: container.IpcMode("container:" + base)}),
			}
			ids := map[string]string{"base": base}
			for _, n := range []string{"net", "pid", "ipc"} {
				ids[n] = l.make(t, n, "app:1", shapes[n], true)
			}
			ids["chain"] = l.make(t, "chain", "app:1",
				host(container.HostConfig{NetworkMode: container.NetworkMode("container:" + ids["net"])}), true)
			ids["stopped"] = l.make(t, "stopped", "app:1", shape{
				Host: container.HostConfig{NetworkMode: container.NetworkMode("container:" + base)}, stopped: true,
			}, true)
			ids["follows"] = l.make(t, "follows", "app:1", shape{
				Config: container.Config{Labels: labels("follows", "base:service_started:true")},
			}, true)
			ids["other"] = l.make(t, "other", "app:1", shape{
				Config: container.Config{Labels: labels("other", "base:service_started:false")},
			}, true)
			started := l.inspect(t, "follows").State.StartedAt
			out, plan, _ := l.apply(t, base, watcher.UpdateRules{})
			updated := name == "works"
			if (out.State == watcher.Updated) != updated || len(out.Warnings) > 0 || len(plan.Dependents) != 6 {
				t.Errorf("%+v, dependents %+v", out, plan.Dependents)
			}
			now := map[string]string{}
			for n, id := range ids {
				c := l.inspect(t, n)
				now[n] = c.ID
				recreated := updated && n != "follows" && n != "other"
				if (c.ID != id) != recreated {
					t.Errorf("%s: recreated is %t", n, c.ID != id)
				}
				if c.State.Running != (n != "stopped") {
					t.Errorf("%s is %s", n, c.State.Status)
				}
			}
			for n, of := range map[string]string{
				"net": "base", "pid": "base", "ipc": "base", "chain": "net", "stopped": "base",
			} {
				h := l.inspect(t, n).HostConfig
				if want := "container:" + now[of]; string(h.NetworkMode) != want && string(h.PidMode) != want &&
					string(h.IpcMode) != want {
					t.Errorf("%s joins %s %s %s, want %s", n, h.NetworkMode, h.PidMode, h.IpcMode, want)
				}
			}
			if restarted := l.inspect(t, "follows").State.StartedAt != started; restarted != updated {
				t.Errorf("what depends on it was restarted: %t", restarted)
			}
			all, err := l.API.ContainerList(t.Context(), container.ListOptions{All: true})
			check(t, err)
			if len(all) != len(ids) {
				t.Errorf("%d containers, want %d", len(all), len(ids))
			}
			for _, c := range all {
				l.Remove(t, engine.Name(c))
			}
		})
	}
}

// TestUpdateReturnsWhenADependentDoesNotWork, together with it.
func TestUpdateReturnsWhenADependentDoesNotWork(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	base := l.make(t, "base", "app:1", shape{}, true)
	client := l.make(t, "client", "app:1", shape{
		Config: container.Config{
			// The old one is not unhealthy yet when the update is planned.
			Healthcheck: &container.HealthConfig{
				Test: []string{"CMD", "/missing"}, Interval: 5 * time.Second, Retries: 1,
			},
		}, Host: container.HostConfig{NetworkMode: container.NetworkMode("container:" + base)},
	}, true)
	out, _, _ := l.apply(t, base, watcher.UpdateRules{})
	if out.State != watcher.RolledBack || out.Reason.Code != "unhealthy" || !strings.Contains(out.Reason.Text, "client") {
		t.Errorf("%+v", out)
	}
	for name, id := range map[string]string{"base": base, "client": client} {
		if c := l.inspect(t, name); c.ID != id || !c.State.Running {
			t.Errorf("%s is %s", name, c.State.Status)
		}
	}
}
