package swarm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/swarm"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestMain(m *testing.M) {
	dockertest.Parallel()
	m.Run()
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// house is a swarm of one engine, with a registry and a watcher.
type house struct {
	*dockertest.Daemon
	*Swarm
	registry string
	digests  map[string]string // of the images, by tag
}

// start makes a swarm whose registry has the images app:1, app:2 and app:crash.
func start(t *testing.T, stacks ...string) *house {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	h := &house{
		Daemon: dockertest.Start(t), registry: strings.TrimPrefix(server.URL, "http://"), digests: map[string]string{},
	}
	h.Daemon.Swarm(t)
	for tag, changes := range map[string][]string{
		"1": {"LABEL version=1"}, "2": {"LABEL version=2"}, "crash": {`CMD ["crash","APP_SECRET"]`},
	} {
		h.Image(t, h.ref(tag), changes...)
		h.Push(t, h.ref(tag))
		got, err := h.API.ImageInspect(t.Context(), h.ref(tag))
		check(t, err)
		_, h.digests[tag], _ = strings.Cut(got.RepoDigests[0], "@")
	}
	h.Swarm = New(engine.New(engine.Endpoint{
		Network: "unix", Address: strings.TrimPrefix(h.Host, "unix://"),
	}, "", true), hclog.NewNullLogger(), Options{Stacks: stacks, Logs: true})
	h.poll, h.progressDeadline = 100*time.Millisecond, time.Minute
	return h
}

func (h *house) ref(tag string) string { return h.registry + "/app:" + tag }

// exact is the image of a tag as clients of swarms write it.
func (h *house) exact(tag string) string { return h.ref(tag) + "@" + h.digests[tag] }

// service creates a service of two tasks of app:1 that run, and returns its id.
func (h *house) service(t *testing.T, name string, change func(*swarm.ServiceSpec)) string {
	t.Helper()
	two, soon := uint64(2), 300*time.Millisecond
	grace := time.Second
	spec := swarm.ServiceSpec{
		Annotations: swarm.Annotations{Name: name, Labels: map[string]string{"a": "service"}},
		TaskTemplate: swarm.TaskSpec{
			ContainerSpec: &swarm.ContainerSpec{
				Image: h.exact("1"), Labels: map[string]string{"a": "container", "b": "container"},
				Env: []string{"APP_SECRET=hunter2"}, StopGracePeriod: &grace,
			},
			Networks:      []swarm.NetworkAttachmentConfig{{Target: "host"}},
			RestartPolicy: &swarm.RestartPolicy{Condition: swarm.RestartPolicyConditionAny, Delay: &soon},
		},
		Mode:         swarm.ServiceMode{Replicated: &swarm.ReplicatedService{Replicas: &two}},
		UpdateConfig: &swarm.UpdateConfig{Parallelism: 1, Monitor: soon, FailureAction: swarm.UpdateFailureActionPause},
		RollbackConfig: &swarm.UpdateConfig{
			Parallelism: 0, Monitor: soon, FailureAction: swarm.UpdateFailureActionPause,
		},
	}
	if change != nil {
		change(&spec)
	}
	created, err := h.API.ServiceCreate(t.Context(), spec, swarm.ServiceCreateOptions{})
	check(t, err)
	h.await(t, "the service runs", func() bool {
		for _, c := range h.list(t) {
			if c.ID == created.ID {
				return c.Status == "running" || c.Status == "stopped"
			}
		}
		return false
	})
	return created.ID
}

func (h *house) await(t *testing.T, what string, met func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !met(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

func (h *house) list(t *testing.T) []watcher.Container {
	t.Helper()
	list, err := h.List(t.Context())
	check(t, err)
	return list
}

func (h *house) operation(t *testing.T, id, tag string) watcher.Operation {
	t.Helper()
	req := watcher.UpdateRequest{
		ContainerID: id, Image: watcher.TargetImage{Reference: h.ref(tag), Digest: h.digests[tag]},
	}
	plan, err := h.Plan(t.Context(), req)
	check(t, err)
	if len(plan.Blocks) > 0 {
		t.Fatal(plan.Blocks)
	}
	return watcher.Operation{ID: "op" + tag, Request: req, Plan: plan}
}

// runs fails the test unless all tasks of a service run an image, as the engine itself says.
func (h *house) runs(t *testing.T, id, image string) {
	t.Helper()
	service, _, err := h.API.ServiceInspectWithRaw(t.Context(), id, swarm.ServiceInspectOptions{})
	check(t, err)
	if got := service.Spec.TaskTemplate.ContainerSpec.Image; got != image {
		t.Errorf("the service has the image %s, want %s", got, image)
	}
	tasks, err := h.engine.Tasks(t.Context(), id)
	check(t, err)
	running, wanted := count(engine.Service{Service: service}, tasks, image)
	if running != wanted {
		t.Errorf("%d of %d tasks run %s", running, wanted, image)
	}
}

// journal keeps steps as a host does. Its call failAt fails, and all after it.
type journal struct {
	mu     sync.Mutex
	steps  []watcher.StepRecord
	calls  int
	failAt int
	fail   error
}

func (j *journal) call() error {
	if j.calls++; j.failAt > 0 && j.calls >= j.failAt {
		return j.fail
	}
	return nil
}

func (j *journal) Begin(_ context.Context, s watcher.Step) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.call(); err != nil {
		return err
	}
	j.steps = append(j.steps, watcher.StepRecord{Step: s})
	return nil
}

func (j *journal) End(_ context.Context, _ watcher.Step, _ map[string]string, _ error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.call(); err != nil && !errors.Is(err, watcher.ErrStop) {
		return err
	}
	j.steps[len(j.steps)-1].Ended = true
	return nil
}

func (j *journal) Progress(watcher.StepProgress) {}

// TestSwarm has one engine for all that services go through.
func TestSwarm(t *testing.T) {
	t.Parallel()
	h := start(t)
	t.Run("services", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *house){
			"list": listsServices, "update": updatesService, "events": followsServices, "nothing to run": updatesStopped,
			"global": updatesGlobal, "changed meanwhile": leavesOthersChanges, "interrupted": recovers, "job": blocksJob,
			"cancelled": cancels, "logs": readsLogs,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, h)
			})
		}
		for _, action := range []string{
			swarm.UpdateFailureActionPause, swarm.UpdateFailureActionRollback, swarm.UpdateFailureActionContinue,
		} {
			t.Run("failure action "+action, func(t *testing.T) {
				t.Parallel()
				rollsBack(t, h, action)
			})
		}
		t.Run("no such image", func(t *testing.T) {
			t.Parallel()
			rollsBackMissing(t, h)
		})
	})
}

func listsServices(t *testing.T, h *house) {
	none := uint64(0)
	id := h.service(t, "listed", func(s *swarm.ServiceSpec) { s.Labels[stackLabel] = "media" })
	h.service(t, "stopped", func(s *swarm.ServiceSpec) {
		s.Mode.Replicated.Replicas, s.TaskTemplate.ContainerSpec.Image = &none, "app@"+h.digests["1"]
	})
	byName := map[string]watcher.Container{}
	for _, c := range h.list(t) {
		byName[c.Name] = c
	}
	got := byName["listed"]
	if got.ID != id || got.Status != "running" || got.Created.IsZero() || got.Error != "" ||
		got.Labels["a"] != "service" || got.Labels["b"] != "container" || len(got.ImageLabels) > 0 {
		t.Errorf("%+v", got)
	}
	image := watcher.Image{
		ID: h.digests["1"], Host: h.registry, Name: "app", Tag: "1", Digest: h.digests["1"],
		Digests: []string{h.registry + "/app@" + h.digests["1"]}, Platform: got.Image.Platform,
	}
	if fmt.Sprint(got.Image) != fmt.Sprint(image) || got.Image.Platform.OS != "linux" ||
		got.Image.Platform.Architecture == "" || strings.Contains(got.Image.Platform.Architecture, "_") {
		t.Errorf("got %+v, want %+v", got.Image, image)
	}
	if got := byName["stopped"]; got.Status != "stopped" || !got.Image.Pinned || got.Image.Tag != "" {
		t.Errorf("%+v", got)
	}
	only := New(h.engine, hclog.NewNullLogger(), Options{Stacks: []string{"media"}})
	list, err := only.List(t.Context())
	check(t, err)
	if len(list) != 1 || list[0].Name != "listed" {
		t.Errorf("of the stack media: %+v", list)
	}
}

func updatesService(t *testing.T, h *house) {
	id := h.service(t, "updated", func(s *swarm.ServiceSpec) { s.TaskTemplate.ContainerSpec.Hostname = "kept" })
	op, j := h.operation(t, id, "2"), &journal{}
	if op.Plan.From.Reference != h.ref("1") || op.Plan.From.Digest != h.digests["1"] || len(op.Plan.Steps) != 2 {
		t.Errorf("%+v", op.Plan)
	}
	out, err := h.Apply(t.Context(), op, j)
	check(t, err)
	if out.State != watcher.Updated || out.ContainerID != id || len(j.steps) != 2 || !j.steps[1].Ended {
		t.Errorf("%+v, %+v", out, j.steps)
	}
	h.runs(t, id, h.exact("2"))
	service, _, err := h.API.ServiceInspectWithRaw(t.Context(), id, swarm.ServiceInspectOptions{})
	check(t, err)
	if spec := service.Spec.TaskTemplate.ContainerSpec; spec.Hostname != "kept" || len(spec.Env) != 1 {
		t.Errorf("%+v", spec)
	}
	// The way back is an update to the image that ran before.
	out, err = h.Apply(t.Context(), h.operation(t, id, "1"), &journal{})
	check(t, err)
	if out.State != watcher.Updated {
		t.Errorf("%+v", out)
	}
	h.runs(t, id, h.exact("1"))
}

func rollsBack(t *testing.T, h *house, action string) {
	id := h.service(t, "failing-"+action, func(s *swarm.ServiceSpec) {
		// Tasks that fail later than that after their start do not count for the swarm.
		s.UpdateConfig.FailureAction, s.UpdateConfig.Monitor = action, 3*time.Second
	})
	op, j := h.operation(t, id, "crash"), &journal{}
	if action == swarm.UpdateFailureActionContinue { // so that only the lack of progress tells
		op.Request.Rules.Health.Window = 10 * time.Second
	}
	out, err := h.Apply(t.Context(), op, j)
	check(t, err)
	if out.State != watcher.RolledBack || out.Reason.Code != "step.health" || !strings.Contains(out.Reason.Text, "exit") {
		t.Errorf("%+v", out)
	}
	e := out.Evidence
	if e == nil || e.ExitCode != 3 || e.Status != "failed" || !strings.Contains(e.Log, "line 59") ||
		strings.Contains(e.Log, "hunter2") {
		t.Errorf("%+v", e)
	}
	h.runs(t, id, h.exact("1"))
	asked := slices.ContainsFunc(j.steps, func(s watcher.StepRecord) bool { return strings.HasPrefix(s.ID, "rollback:") })
	if asked == (action == swarm.UpdateFailureActionRollback) {
		t.Errorf("the swarm was asked to return: %t: %+v", asked, out.Reason)
	}
}

func rollsBackMissing(t *testing.T, h *house) {
	id := h.service(t, "missing", nil)
	op := h.operation(t, id, "2")
	op.Request.Image.Digest = "sha256:" + strings.Repeat("0", 64)
	out, err := h.Apply(t.Context(), op, &journal{})
	check(t, err)
	if out.State != watcher.RolledBack || !strings.Contains(out.Reason.Text, "No such image") {
		t.Errorf("%+v", out)
	}
	h.runs(t, id, h.exact("1"))
}

func updatesStopped(t *testing.T, h *house) {
	none := uint64(0)
	id := h.service(t, "none", func(s *swarm.ServiceSpec) { s.Mode.Replicated.Replicas = &none })
	out, err := h.Apply(t.Context(), h.operation(t, id, "2"), &journal{})
	check(t, err)
	if out.State != watcher.Updated {
		t.Errorf("%+v", out)
	}
	h.runs(t, id, h.exact("2"))
}

func updatesGlobal(t *testing.T, h *house) {
	id := h.service(t, "global", func(s *swarm.ServiceSpec) { s.Mode = swarm.ServiceMode{Global: &swarm.GlobalService{}} })
	out, err := h.Apply(t.Context(), h.operation(t, id, "2"), &journal{})
	check(t, err)
	if out.State != watcher.Updated {
		t.Errorf("%+v", out)
	}
	h.runs(t, id, h.exact("2"))
}

// leavesOthersChanges: what another client did since the plan is not undone.
func leavesOthersChanges(t *testing.T, h *house) {
	id := h.service(t, "others", nil)
	op := h.operation(t, id, "2")
	change := func(value, field string) {
		service, err := h.engine.Service(t.Context(), id)
		check(t, err)
		check(t, h.inSequence(t.Context(), service, func(now engine.Service) error {
			spec, err := replaced(now.Source, []byte(value), "TaskTemplate", "ContainerSpec", field)
			check(t, err)
			return h.engine.UpdateService(t.Context(), now, spec, sdk.Credentials{})
		}))
	}
	change(`["OTHER=1"]`, "Env")
	out, err := h.Apply(t.Context(), op, &journal{})
	check(t, err)
	if out.State != watcher.Unchanged || out.Reason.Code != BlockChanged {
		t.Errorf("%+v", out)
	}
	op.Steps = []watcher.StepRecord{{Step: op.Plan.Steps[0]}}
	change(fmt.Sprintf("%q", h.exact("crash")), "Image")
	out, err = h.Recover(t.Context(), op, &journal{})
	check(t, err)
	if out.State != watcher.Broken || !strings.Contains(out.Reason.Text, h.ref("crash")) {
		t.Errorf("%+v", out)
	}
}

// recovers: an update that ends at any call of the journal is finished or was not begun, and is not done twice.
func recovers(t *testing.T, h *house) {
	lost := errors.New("the host is gone")
	id := h.service(t, "interrupted", nil)
	from, to := "1", "2"
	for call := 1; call <= 4; call++ {
		op, j := h.operation(t, id, to), &journal{failAt: call, fail: lost}
		if _, err := h.Apply(t.Context(), op, j); !errors.Is(err, lost) {
			t.Fatalf("call %d: %v", call, err)
		}
		op.Steps = j.steps
		out, err := h.Recover(t.Context(), op, &journal{})
		check(t, err)
		if call == 1 {
			if out.State != watcher.Unchanged || out.Reason.Code != watcher.ReasonInterrupted {
				t.Errorf("call %d: %+v", call, out)
			}
			h.runs(t, id, h.exact(from))
			continue
		}
		if out.State != watcher.Updated {
			t.Errorf("call %d: %+v", call, out)
		}
		h.runs(t, id, h.exact(to))
		from, to = to, from
	}
	// The request did not arrive although its step began.
	op := h.operation(t, id, to)
	op.Steps = []watcher.StepRecord{{Step: op.Plan.Steps[0]}}
	out, err := h.Recover(t.Context(), op, &journal{})
	check(t, err)
	if out.State != watcher.Unchanged || out.Reason.Code != watcher.ReasonInterrupted {
		t.Errorf("%+v", out)
	}
}

func cancels(t *testing.T, h *house) {
	id := h.service(t, "cancelled", nil)
	for call, want := range map[int]watcher.OutcomeState{1: watcher.Unchanged, 3: watcher.RolledBack} {
		out, err := h.Apply(t.Context(), h.operation(t, id, "2"), &journal{failAt: call, fail: watcher.ErrStop})
		check(t, err)
		if out.State != want || out.Reason.Code != watcher.ReasonCancelled {
			t.Errorf("call %d: %+v", call, out)
		}
		h.runs(t, id, h.exact("1"))
	}
}

func blocksJob(t *testing.T, h *house) {
	one := uint64(1)
	created, err := h.API.ServiceCreate(t.Context(), swarm.ServiceSpec{
		Annotations: swarm.Annotations{Name: "job"},
		TaskTemplate: swarm.TaskSpec{
			ContainerSpec: &swarm.ContainerSpec{Image: h.exact("1"), Args: []string{"show", "/none"}},
			RestartPolicy: &swarm.RestartPolicy{Condition: swarm.RestartPolicyConditionNone},
			Networks:      []swarm.NetworkAttachmentConfig{{Target: "host"}},
		},
		Mode: swarm.ServiceMode{ReplicatedJob: &swarm.ReplicatedJob{TotalCompletions: &one, MaxConcurrent: &one}},
	}, swarm.ServiceCreateOptions{})
	check(t, err)
	plan, err := h.Plan(t.Context(), watcher.UpdateRequest{
		ContainerID: created.ID, Image: watcher.TargetImage{Reference: h.ref("2"), Digest: h.digests["2"]},
	})
	check(t, err)
	if len(plan.Blocks) != 1 || plan.Blocks[0].Code != BlockJob {
		t.Errorf("%+v", plan.Blocks)
	}
}

func readsLogs(t *testing.T, h *house) {
	id := h.service(t, "talking", func(s *swarm.ServiceSpec) {
		s.TaskTemplate.ContainerSpec.Args = []string{"write", `"out with hunter2\n"`, `"bad\n"`, "3"}
	})
	request := watcher.LogRequest{ContainerID: id, Lines: 50}
	var lines []watcher.LogLine
	h.await(t, "both tasks wrote their lines", func() bool {
		log, err := h.ReadLog(t.Context(), request)
		check(t, err)
		lines = log.Lines
		return len(lines) == 12
	})
	tasks := map[string]int{}
	for i, l := range lines {
		task, text, _ := strings.Cut(l.Text, " | ")
		tasks[task]++
		if want := map[bool]string{false: "out with ***", true: "bad"}[l.Stderr]; text != want || l.At.IsZero() {
			t.Errorf("line %d is %+v", i, l)
		}
		if i > 0 && l.At.Before(lines[i-1].At.Time) {
			t.Errorf("line %d is older than the one before", i)
		}
	}
	if len(tasks) != 2 {
		t.Errorf("lines of the tasks: %v", tasks)
	}
	request.Lines = 5
	if log, err := h.ReadLog(t.Context(), request); err != nil || !slices.Equal(log.Lines, lines[7:]) {
		t.Errorf("the last five: %+v, %v", log, err)
	}
	silent := h.service(t, "silent", func(s *swarm.ServiceSpec) { s.TaskTemplate.LogDriver = &swarm.Driver{Name: "none"} })
	if log, err := h.ReadLog(t.Context(), watcher.LogRequest{ContainerID: silent, Lines: 5}); err != nil ||
		log.UnreadableDriver != "none" {
		t.Errorf("a driver that keeps nothing: %+v, %v", log, err)
	}
	for _, wrong := range []string{"gone", "../images", "talking/x?"} {
		_, err := h.ReadLog(t.Context(), watcher.LogRequest{ContainerID: wrong, Lines: 5})
		if !errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	for want, opt := range map[error]Options{sdk.ErrUnsupported: {}, sdk.ErrNotFound: {Logs: true, Stacks: []string{"media"}}} {
		if _, err := New(h.engine, hclog.NewNullLogger(), opt).ReadLog(t.Context(), request); !errors.Is(err, want) {
			t.Errorf("with %+v: %v, want %v", opt, err, want)
		}
	}
}

func followsServices(t *testing.T, h *house) {
	ctx, cancel := context.WithCancel(t.Context())
	found, ended := make(chan watcher.Event, 1000), make(chan error, 1)
	h.list(t)
	go func() { ended <- h.Watch(ctx, func(e watcher.Event) { found <- e }) }()
	id := h.service(t, "followed", nil)
	await := func(what string) {
		t.Helper()
		for end := time.After(20 * time.Second); ; {
			select {
			case e := <-found:
				if e.ContainerID == id && e.Action == watcher.ActionChanged && !e.At.IsZero() {
					return
				}
			case <-end:
				t.Fatalf("no event: %s", what)
			}
		}
	}
	await("created")
	for len(found) > 0 {
		<-found
	}
	check(t, h.API.ServiceRemove(t.Context(), id))
	await("removed")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestEngineOutsideOfASwarmSaysSo rather than that a proxy cannot reach it.
func TestEngineOutsideOfASwarmSaysSo(t *testing.T) {
	t.Parallel()
	d := dockertest.Start(t)
	s := New(engine.New(engine.Endpoint{
		Network: "unix", Address: strings.TrimPrefix(d.Host, "unix://"),
	}, "", false), hclog.NewNullLogger(), Options{})
	for what, ask := range map[string]func() error{
		"list":  func() error { _, err := s.List(t.Context()); return err },
		"probe": func() error { _, err := s.Probe(t.Context(), sdk.ProbeRequest{}); return err },
	} {
		if err := ask(); !errors.Is(err, sdk.ErrUnavailable) || !strings.Contains(err.Error(), "not a manager of a swarm") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
