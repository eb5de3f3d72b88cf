package docker

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/update"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// shape is how a container is made.
type shape struct {
	container.Config
	Host    container.HostConfig
	Net     map[string]*network.EndpointSettings // of the request that creates it
	Connect map[string]*network.EndpointSettings // afterwards
	files   map[string]string                    // put into it before it starts, as compose does
	stopped bool
	paused  bool
	since   string // the API version that knows it; "" for all
}

// journal stores steps as a host does. It fails from the step failAt on, with fail.
type journal struct {
	mu     sync.Mutex
	steps  []watcher.StepRecord
	failAt int // the number of the call that fails first; 0 for none
	fail   error
	calls  int
	begun  func(watcher.Step) // nil, or called as each step begins
}

func (j *journal) Begin(_ context.Context, s watcher.Step) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.calls++; j.failAt > 0 && j.calls >= j.failAt && (j.fail != watcher.ErrStop || j.calls == j.failAt) {
		return j.fail
	}
	j.steps = append(j.steps, watcher.StepRecord{Step: s})
	if j.begun != nil {
		j.begun(s)
	}
	return nil
}

func (j *journal) End(_ context.Context, s watcher.Step, facts map[string]string, err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.calls++; j.failAt > 0 && j.calls >= j.failAt && j.fail != watcher.ErrStop {
		return j.fail
	}
	for i := len(j.steps) - 1; i >= 0; i-- {
		step := &j.steps[i]
		if step.ID != s.ID || step.Ended {
			continue
		}
		step.Ended, step.Facts = true, maps.Clone(facts)
		if err != nil {
			step.Error = err.Error()
		}
		break
	}
	return nil
}

func (j *journal) Progress(watcher.StepProgress) {}

// lab is an engine with an old and a new image.
type lab struct {
	*dockertest.Daemon
	docker   *Docker
	old, new string // image ids
}

// soon is how long new containers of tests have to stay up.
const soon = 300 * time.Millisecond

func newLab(t *testing.T) *lab {
	t.Helper()
	engine := dockertest.Start(t)
	options := Options{
		Connection: Connection{Socket: engine.Host}, Update: true, Hooks: true, Compose: update.ComposeRequest,
	}
	l := &lab{Daemon: engine, docker: watch(t, options)}
	l.docker.updater.Liveness = soon
	l.old = engine.Image(t, "app:1", "ENV LEVEL=info", "ENV OLD=1", "LABEL version=1", "USER 0", "WORKDIR /old",
		"EXPOSE 80", "VOLUME /data", `CMD ["one"]`)
	l.new = engine.Image(t, "app:2", "ENV LEVEL=warn", "ENV NEW=1", "LABEL version=2", "WORKDIR /new", "EXPOSE 81",
		"VOLUME /data", `CMD ["two"]`)
	return l
}

func (l *lab) request(id string) watcher.UpdateRequest {
	return watcher.UpdateRequest{
		ContainerID: id, Image: watcher.TargetImage{Reference: "docker.io/library/app:2", ID: l.new},
	}
}

// make creates a container of a shape.
func (l *lab) make(t *testing.T, name, image string, s shape, run bool) string {
	t.Helper()
	config, host := s.Config, s.Host
	config.Image = image
	if host.NetworkMode == "" {
		host.NetworkMode = "none"
	}
	created, err := l.API.ContainerCreate(t.Context(), &config, &host, &network.NetworkingConfig{
		EndpointsConfig: s.Net,
	}, nil, name)
	check(t, err)
	for _, n := range slices.Sorted(maps.Keys(s.Connect)) {
		check(t, l.API.NetworkConnect(t.Context(), n, created.ID, s.Connect[n]))
	}
	if len(s.files) > 0 {
		l.put(t, created.ID, s.files)
	}
	if run && !s.stopped {
		check(t, l.API.ContainerStart(t.Context(), created.ID, container.StartOptions{}))
	}
	if run && s.paused {
		check(t, l.API.ContainerPause(t.Context(), created.ID))
	}
	return created.ID
}

func (l *lab) inspect(t *testing.T, name string) container.InspectResponse {
	t.Helper()
	c, err := l.API.ContainerInspect(t.Context(), name)
	check(t, err)
	return c
}

// run runs a command in a container, and returns its exit code.
func (l *lab) run(t *testing.T, name string, command ...string) int {
	t.Helper()
	made, err := l.API.ContainerExecCreate(t.Context(), name, container.ExecOptions{Cmd: command})
	check(t, err)
	check(t, l.API.ContainerExecStart(t.Context(), made.ID, container.ExecStartOptions{Detach: true}))
	for {
		state, err := l.API.ContainerExecInspect(t.Context(), made.ID)
		if check(t, err); !state.Running {
			return state.ExitCode
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// plan plans an update, which must not be blocked.
func (l *lab) plan(t *testing.T, req watcher.UpdateRequest) watcher.Plan {
	t.Helper()
	p, err := l.docker.Plan(t.Context(), req)
	check(t, err)
	if len(p.Blocks) > 0 {
		t.Fatalf("blocked: %v", p.Blocks)
	}
	return p
}

// settings is what can be set of a container, comparable with that of another one.
func settings(t *testing.T, c container.InspectResponse) string {
	t.Helper()
	config, host := *c.Config, *c.HostConfig
	if config.Hostname == engine.Short(c.ID) {
		config.Hostname = ""
	}
	slices.Sort(config.Env)
	networks := map[string]any{}
	for name, e := range c.NetworkSettings.Networks {
		aliases := slices.DeleteFunc(slices.Clone(e.Aliases), func(a string) bool { return a == engine.Short(c.ID) })
		networks[name] = []any{e.IPAMConfig, slices.Concat([]string{}, aliases), slices.Concat([]string{}, e.Links),
			e.DriverOpts, e.GwPriority}
	}
	text, err := json.MarshalIndent([]any{config, host, networks}, "", " ")
	check(t, err)
	return string(text)
}
