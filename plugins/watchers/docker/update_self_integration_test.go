package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/internal/buildtest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/update"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// dogwatch is the program, built once per test binary.
var dogwatch = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "dw")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "dogwatch")
	if err := buildtest.Dogwatch(binary); err != nil {
		return nil, err
	}
	return os.ReadFile(binary)
})

// kennel is a lab with a container "dog", in which the watcher seems to run.
type kennel struct {
	*lab
	program []byte
	// began is the watcher that began the update, for what happens meanwhile: the
	// one of lab is replaced by each that recovers.
	began *Docker
}

func newKennel(t *testing.T) *kennel {
	t.Helper()
	engine := dockertest.Start(t)
	program, err := dogwatch()
	check(t, err)
	k := &kennel{lab: &lab{Daemon: engine}, program: program}
	k.old = k.image(t, "app:1", "LABEL version=1")
	k.new = k.image(t, "app:2", "LABEL version=2")
	return k
}

func (k *kennel) image(t *testing.T, ref string, changes ...string) string {
	t.Helper()
	return k.ImageWith(t, ref, map[string][]byte{"/bin/dogwatch": k.program}, changes...)
}

// in says that the process runs in a container.
func in(id string) func(context.Context, []container.Summary) []string {
	return func(context.Context, []container.Summary) []string { return []string{id} }
}

// in is the watcher in a container.
func (k *kennel) in(t *testing.T, own string) *Docker {
	d := watch(t, Options{
		Connection: Connection{Socket: k.Host}, Update: true, Hooks: true, Compose: update.ComposeRequest,
	})
	d.updater.Whereabouts = in(own)
	d.updater.HelperCommand = func() ([]string, error) { return []string{"/bin/dogwatch", "plugin", "handover"}, nil }
	return d
}

// dog makes the container that Dogwatch runs in.
func (k *kennel) dog(t *testing.T, s shape) string {
	t.Helper()
	dir := filepath.Dir(strings.TrimPrefix(k.Host, "unix://"))
	s.Host.Binds = append(s.Host.Binds, dir+":"+dir)
	return k.make(t, "dog", "app:1", s, true)
}

// update updates a container from within the one called dog, as the runner does: a
// Dogwatch whose outcome is not known recovers, in whichever container then runs.
func (k *kennel) update(
	t *testing.T, req watcher.UpdateRequest, during func(op watcher.Operation, j *journal),
) (watcher.Outcome, *journal) {
	t.Helper()
	own := k.inspect(t, "dog").ID
	k.docker = k.in(t, own)
	k.began = k.docker
	op := watcher.Operation{ID: "op1", Request: req, Plan: k.plan(t, req)}
	j := &journal{}
	if during != nil {
		go during(op, j)
	}
	out, err := k.docker.Apply(t.Context(), op, j)
	for began := time.Now(); err != nil; {
		if time.Since(began) > time.Minute {
			t.Fatalf("no outcome: %v", err)
		}
		t.Logf("left: %v", err)
		time.Sleep(200 * time.Millisecond)
		c, inspected := k.API.ContainerInspect(t.Context(), "dog")
		if inspected != nil || !c.State.Running {
			continue // no Dogwatch runs that could recover
		}
		k.docker = k.in(t, c.ID)
		op.Steps = j.records()
		out, err = k.docker.Recover(t.Context(), op, j)
	}
	op.Steps = j.records()
	if second, err := k.docker.Recover(t.Context(), op, &journal{}); err != nil || second.State != out.State ||
		second.ContainerID != out.ContainerID {
		t.Errorf("recovered again: %+v, %v", second, err)
	}
	return out, j
}

func (j *journal) records() []watcher.StepRecord {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]watcher.StepRecord(nil), j.steps...)
}

func (j *journal) text() string {
	var all []string
	for _, s := range j.records() {
		all = append(all, s.ID)
	}
	return strings.Join(all, " ")
}

// TestSelfUpdate covers the ends of an update of the own container.
func TestSelfUpdate(t *testing.T) {
	t.Parallel()
	k := newKennel(t)
	for name, c := range map[string]struct {
		changes []string
		rules   watcher.UpdateRules
		shape   shape
		want    watcher.OutcomeState
		steps   string
	}{
		"works": {
			[]string{"LABEL version=3"}, watcher.UpdateRules{Prune: true},
			shape{Host: container.HostConfig{ReadonlyRootfs: true, RestartPolicy: container.RestartPolicy{Name: "always"}}},
			watcher.Updated, "handover:dog rename:dog create:dog stop:dog start:dog health:dog remove:dog prune",
		},
		"keeps": {
			nil, watcher.UpdateRules{Keep: 1},
			shape{Config: container.Config{User: "0:0", Env: []string{"DOGWATCH_SECRET=1"}, Hostname: "own"}},
			watcher.Updated, "handover:dog rename:dog create:dog stop:dog start:dog health:dog remove:dog",
		},
		"exits": {
			[]string{`ENTRYPOINT ["/bin/dogwatch","nonsense"]`}, watcher.UpdateRules{}, shape{},
			watcher.RolledBack, "handover:dog rename:dog create:dog stop:dog start:dog health:dog back:dog",
		},
		"unhealthy": {
			[]string{`HEALTHCHECK --interval=200ms --timeout=1s --retries=1 CMD ["/missing"]`}, watcher.UpdateRules{}, shape{},
			watcher.RolledBack, "handover:dog rename:dog create:dog stop:dog start:dog health:dog back:dog",
		},
		"not startable": {
			[]string{`ENTRYPOINT ["/missing"]`}, watcher.UpdateRules{}, shape{},
			watcher.RolledBack, "handover:dog rename:dog create:dog stop:dog start:dog back:dog",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.changes != nil {
				k.new = k.image(t, "app:next-"+strings.ReplaceAll(name, " ", "-"), c.changes...)
			}
			id := k.dog(t, c.shape)
			req := k.request(id)
			req.Rules = c.rules
			out, j := k.update(t, req, nil)
			t.Logf("%s: %+v", j.text(), out)
			if out.State != c.want || j.text() != c.steps || len(out.Warnings) > 0 {
				t.Errorf("got %+v after %s, want %s after %s", out, j.text(), c.want, c.steps)
			}
			image := k.old
			if c.want == watcher.Updated {
				image = k.new
			}
			if c.rules.Keep > 0 {
				k.Remove(t, "dog-dogwatch-op1")
			}
			k.only(t, "dog", image)
			if c.want == watcher.RolledBack && (k.inspect(t, "dog").ID != id || out.Reason.Text == "") {
				t.Errorf("it is another container: %+v", out)
			}
			k.Remove(t, "dog")
		})
	}
}

// TestSelfUpdateSurvivesKilledHelper kills the helper at every step: the engine starts it
// again after a crash, and the Dogwatch that runs does what is left if it was removed.
func TestSelfUpdateSurvivesKilledHelper(t *testing.T) {
	t.Parallel()
	k := newKennel(t)
	kills := map[string]func(t *testing.T, c container.InspectResponse){
		"crash": func(_ *testing.T, c container.InspectResponse) { _ = syscall.Kill(c.State.Pid, syscall.SIGKILL) },
		"kill":  func(t *testing.T, c container.InspectResponse) { _ = k.API.ContainerKill(t.Context(), c.ID, "KILL") },
		"remove": func(t *testing.T, c container.InspectResponse) {
			_ = k.API.ContainerRemove(t.Context(), c.ID, container.RemoveOptions{Force: true})
		},
	}
	n, chosen := 0, dockertest.Moments(t, 2, 0)
	for _, how := range []string{"crash", "kill", "remove"} {
		for _, step := range []string{"rename:dog", "create:dog", "stop:dog", "start:dog", "health:dog", "remove:dog"} {
			if how != "crash" && step != "rename:dog" && step != "health:dog" {
				continue // while no Dogwatch runs, only the engine can start it again
			}
			if n++; !chosen(n) {
				continue
			}
			t.Run(how+" at "+step, func(t *testing.T) {
				id := k.dog(t, shape{Host: container.HostConfig{RestartPolicy: container.RestartPolicy{Name: "unless-stopped"}}})
				ctx, cancel := context.WithCancel(t.Context())
				watching := make(chan struct{})
				killed := errors.New("was not")
				out, j := k.update(t, k.request(id), func(watcher.Operation, *journal) {
					defer close(watching)
					for ctx.Err() == nil {
						c, err := k.API.ContainerInspect(ctx, "dog-dogwatch-op1-helper")
						if err != nil || !c.State.Running {
							continue
						}
						log, err := k.began.engine.Output(ctx, c.ID)
						if err == nil && strings.Contains(string(log), `{"begin":{"ID":"`+step+`"`) {
							kills[how](t, c)
							killed = nil
							return
						}
					}
				})
				cancel()
				<-watching
				t.Logf("killed: %v; %s: %+v", killed, j.text(), out)
				image := k.old
				if out.State == watcher.Updated {
					image = k.new
				}
				if out.State == watcher.Broken {
					t.Error(out)
				}
				k.only(t, "dog", image)
				k.Remove(t, "dog")
			})
		}
	}
}

// TestSelfUpdateSurvivesKilledHost stops the host at every call of the journal.
func TestSelfUpdateSurvivesKilledHost(t *testing.T) {
	t.Parallel()
	k := newKennel(t)
	chosen := dockertest.Moments(t, 2, 0)
	for call, interrupted := 1, true; interrupted; call++ {
		if !chosen(call) {
			continue
		}
		id := k.dog(t, shape{})
		k.docker = k.in(t, id)
		req := k.request(id)
		op := watcher.Operation{ID: "op1", Request: req, Plan: k.plan(t, req)}
		j := &journal{failAt: call, fail: errGone}
		out, err := k.docker.Apply(t.Context(), op, j)
		interrupted = errors.Is(err, errGone)
		failAt := call // once more, so that recovering is interrupted too
		for began := time.Now(); err != nil && time.Since(began) < time.Minute; time.Sleep(200 * time.Millisecond) {
			c, inspected := k.API.ContainerInspect(t.Context(), "dog")
			if inspected != nil || !c.State.Running {
				continue
			}
			op.Steps = j.records()
			again := &journal{steps: op.Steps, failAt: failAt, fail: errGone}
			out, err = k.in(t, c.ID).Recover(t.Context(), op, again)
			if errors.Is(err, errGone) {
				failAt, interrupted = 0, true
			}
			j = again
		}
		check(t, err)
		t.Logf("call %d: %s after %s", call, out.State, j.text())
		image := k.old
		if out.State == watcher.Updated {
			image = k.new
		} else if call > 2 {
			t.Errorf("call %d: %+v", call, out)
		}
		k.only(t, "dog", image)
		k.Remove(t, "dog")
		if call > 40 {
			t.Fatal("it does not end")
		}
	}
}

// TestUpdateOfWhatDogwatchDependsOn covers the container whose network Dogwatch joins,
// and the socket proxy.
func TestUpdateOfWhatDogwatchDependsOn(t *testing.T) {
	t.Parallel()
	k := newKennel(t)
	vpn := k.make(t, "vpn", "app:1", shape{}, true)
	dog := k.dog(t, shape{Host: container.HostConfig{NetworkMode: container.NetworkMode("container:" + vpn)}})
	out, j := k.update(t, k.request(vpn), nil)
	t.Logf("%s: %+v", j.text(), out)
	main, now := k.inspect(t, "vpn"), k.inspect(t, "dog")
	if out.State != watcher.Updated || main.Image != k.new || now.ID == dog || !now.State.Running ||
		string(now.HostConfig.NetworkMode) != "container:"+main.ID {
		t.Errorf("%+v; dog is %s in %s", out, now.State.Status, now.HostConfig.NetworkMode)
	}
	// And itself, from there.
	k.new = k.image(t, "app:3", "LABEL version=3")
	req := k.request(now.ID)
	req.Image.Reference = "app:3"
	out, j = k.update(t, req, nil)
	next := k.inspect(t, "dog")
	if out.State != watcher.Updated || next.Image != k.new || k.inspect(t, "vpn").ID != main.ID {
		t.Errorf("%+v after %s; dog is %s", out, j.text(), next.State.Status)
	}
	all, err := k.API.ContainerList(t.Context(), container.ListOptions{All: true})
	check(t, err)
	if len(all) != 2 {
		t.Errorf("%d containers are left", len(all))
	}
}

// TestSelfUpdateEditsTheComposeFile covers the file of the own container, which has the
// old image again if the new one does not work.
func TestSelfUpdateEditsTheComposeFile(t *testing.T) {
	t.Parallel()
	k := newKennel(t)
	good := k.new
	for name, c := range map[string]struct {
		image, steps, want string
	}{
		"works": {good, "edit handover:dog rename:dog create:dog stop:dog start:dog health:dog remove:dog", "app:2"},
		"does not work": {k.image(t, "app:bad", `ENTRYPOINT ["/missing"]`),
			"edit handover:dog rename:dog create:dog stop:dog start:dog back:dog back:edit", "app:1"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "compose.yaml")
			text := "services:\n  dog:\n    image: %s # the watcher\n"
			check(t, os.WriteFile(file, fmt.Appendf(nil, text, "app:1"), 0o600))
			id := k.dog(t, shape{Config: container.Config{Labels: map[string]string{
				compose.LabelProject: "p", compose.LabelService: "dog", "com.docker.compose.project.config_files": file,
				"com.docker.compose.project.working_dir": filepath.Dir(file),
			}}})
			req := k.request(id)
			req.Image.ID = c.image
			req.Rules.Compose = &watcher.ComposeRules{}
			out, j := k.update(t, req, nil)
			if j.text() != c.steps || len(out.Warnings) > 0 {
				t.Errorf("%+v after %s", out, j.text())
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != fmt.Sprintf(text, c.want) {
				t.Errorf("the file is %s (%v)", got, err)
			}
			k.Remove(t, "dog")
		})
	}
}
