package agent_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	lan    = "lan.example:5000"
	secret = "s3cret-of-the-registry"
)

var newDigest = "sha256:" + strings.Repeat("b", 64)

// office is where a Dogwatch serves: its store, and what carries out updates of the hosts of agents.
type office struct {
	*updater.Runner
	store *store.Store
	ended sync.Map // ends, by the ids of operations
	mu    sync.Mutex
	hosts map[string]*host
}

func newOffice(t *testing.T, atOnce int) *office {
	t.Helper()
	var bus event.Bus
	o := &office{hosts: map[string]*host{}}
	o.store = storetest.Open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{Bus: &bus})
	t.Cleanup(func() { o.store.Close() })
	o.Runner = updater.New(updater.Options{
		Watchers: o, Registries: shelf{}, Containers: o, Store: counting{o.store, &o.ended}, Bus: &bus, AtOnce: atOnce,
		Log: hclog.NewNullLogger(), Now: time.Now,
	})
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return o
}

func (o *office) host(name string) *host {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.hosts[name]
}

// Named implements updater.Watchers.
func (o *office) Named(name string) (updater.Watcher, bool) {
	h := o.host(name)
	return updater.Watcher{
		ID: "agent." + name, Name: name, Updates: true, Allowed: true, Detached: true, Updater: h, Hooks: true,
	}, h != nil
}

// ByName implements updater.Containers.
func (o *office) ByName(name, _ string) (sdk.Container, bool) {
	h := o.host(name)
	if h == nil {
		return sdk.Container{}, false
	}
	return h.container, true
}

// ends are how often an operation has ended.
type ends struct {
	times atomic.Int32
	first chan struct{} // closed at the first
}

func endsOf(m *sync.Map, id string) *ends {
	e, _ := m.LoadOrStore(id, &ends{first: make(chan struct{})})
	return e.(*ends)
}

// counting counts how often operations have ended.
type counting struct {
	updater.Store
	ended *sync.Map
}

func (c counting) ChangeOperation(
	ctx context.Context, from operation.State, op operation.Operation, ev ...event.Event,
) error {
	err := c.Store.ChangeOperation(ctx, from, op, ev...)
	if err == nil && op.State.Ended() {
		if e := endsOf(c.ended, op.ID); e.times.Add(1) == 1 {
			close(e.first)
		}
	}
	return err
}

// shelf is a registry with one newer image.
type shelf struct{}

func (shelf) For(string) (updater.Registry, bool) { return shelf{}, true }
func (shelf) Resolve(context.Context, registry.Repository, string) (string, error) {
	return newDigest, nil
}
func (shelf) Credentials(context.Context, registry.Repository) (sdk.Credentials, error) {
	return sdk.Credentials{Username: "ana", Password: secret}, nil
}
func (shelf) ImageConfig(context.Context, registry.Repository, string, sdk.Platform) (*sdk.ImageConfig, error) {
	return nil, nil
}

// host is a host with an agent and a simulated engine, which runs web, as the office sees it.
type host struct {
	name      string
	office    *office
	site      *agent.Site
	engine    *enginesim.Engine
	docker    *docker.Docker
	dir       string
	container sdk.Container
	broken    bool
	created   atomic.Int32 // how many containers were
	pulled    atomic.Int32
	// stop and kill end the agent.
	stop, kill func()
	// pull, if set, is called at each pull.
	pull func()
}

// newHost returns a host, whose newer image does not get healthy when it is broken.
func (o *office) newHost(t *testing.T, name string, broken bool, change ...func(*enginesim.Container)) *host {
	t.Helper()
	h := &host{name: name, office: o, broken: broken}
	pull := func(repository, digest string) (enginesim.Image, bool) {
		h.pulled.Add(1)
		if h.pull != nil {
			h.pull()
		}
		i := enginesim.Image{Digests: []string{repository + "@" + digest}, Labels: map[string]string{"version": "1.1.0"}}
		if broken {
			i.Config = dockerspec.DockerOCIImageConfig{DockerOCIImageConfigExt: dockerspec.DockerOCIImageConfigExt{
				Healthcheck: &dockerspec.HealthcheckConfig{Test: []string{"CMD", "x"}, Interval: 50 * time.Millisecond, Retries: 2},
			}}
			i.Program = enginesim.Program{Failure: "no database"}
		}
		return i, digest == newDigest
	}
	h.engine = enginesim.New(enginesim.Config{Writable: true, Pull: pull})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/containers/create") {
			h.created.Add(1)
		}
		h.engine.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	h.engine.AddImage(enginesim.Image{Tags: []string{lan + "/team/web:1.0.0"}})
	c := enginesim.Container{Name: "web", Image: lan + "/team/web:1.0.0", Config: &container.Config{}}
	for _, set := range change {
		set(&c)
	}
	id, err := h.engine.Create(c)
	must(t, err)
	h.docker, err = docker.New(sdk.Env{Log: hclog.NewNullLogger(), Warn: func(string) {}}, docker.Options{
		Connection: docker.Connection{Socket: "tcp://" + server.Listener.Addr().String()}, WatchAll: true, Update: true,
		Hooks: true,
	})
	must(t, err)
	t.Cleanup(func() { h.docker.Close() })
	h.container = sdk.Container{
		ID: id, Name: "web", Watcher: name, UpdateAvailable: true, Labels: c.Labels,
		Image: sdk.Image{
			Registry: sdk.Registry{Host: lan}, Name: "team/web", Tag: sdk.Tag{Value: "1.0.0"}, OS: "linux", Architecture: "amd64",
		},
		Result:     &sdk.Result{Tag: "1.1.0"},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0.0", RemoteValue: "1.1.0"},
	}
	h.site = agent.NewSite(t, func(name string, err error) {
		if err == nil {
			o.Reached(name)
		}
	})
	h.dir = h.site.Join(t, name)
	o.mu.Lock()
	o.hosts[name] = h
	o.mu.Unlock()
	return h
}

// run runs the agent, and waits for its link.
func (h *host) run(t *testing.T, source agent.Source, limits agent.Limits) {
	t.Helper()
	h.stop, h.kill = h.site.Host(t, h.dir, source, limits)
	h.linked(t)
}

func (h *host) linked(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := h.site.Client(ctx, agent.ID(h.name), true)
	must(t, err)
}

// local is the watcher of the host.
func (h *host) local() agent.Source { return local{h.docker} }

type local struct{ *docker.Docker }

func (l local) ListRaw(ctx context.Context) ([]watcher.Container, error) { return l.List(ctx) }
func (l local) Probe(ctx context.Context) (sdk.ProbeResult, error) {
	return l.Docker.Probe(ctx, sdk.ProbeRequest{})
}

// remote is the watcher at the office.
func (h *host) remote() (watcher.Updater, error) {
	c, err := h.site.Client(context.Background(), agent.ID(h.name), false)
	if err != nil {
		return nil, err
	}
	return c.Watcher(agent.ID(h.name)), nil
}

// Plan implements watcher.Updater.
func (h *host) Plan(ctx context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	r, err := h.remote()
	if err != nil {
		return watcher.Plan{}, err
	}
	if req.Credentials != (sdk.Credentials{}) {
		return watcher.Plan{}, errors.New("a plan has credentials")
	}
	return r.Plan(ctx, req)
}

// Apply implements watcher.Updater.
func (h *host) Apply(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
	r, err := h.remote()
	if err != nil {
		return watcher.Outcome{}, err
	}
	return r.Apply(ctx, op, j)
}

// Recover implements watcher.Updater.
func (h *host) Recover(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
	r, err := h.remote()
	if err != nil {
		return watcher.Outcome{}, err
	}
	return r.Recover(ctx, op, j)
}

func (h *host) begin(t *testing.T) operation.Operation {
	t.Helper()
	op, err := h.office.Start(t.Context(), updater.Request{Container: h.container, Kind: operation.Update, Actor: "ana"})
	must(t, err)
	return op
}

func (h *host) await(t *testing.T, id string) operation.Operation {
	t.Helper()
	hasEnded := true
	select {
	case <-endsOf(&h.office.ended, id).first:
	case <-time.After(time.Minute):
		hasEnded = false
	}
	op, err := h.office.store.Operation(t.Context(), id)
	if err != nil || !hasEnded {
		t.Errorf("%s: operation %+v has not ended: %v\n%s", h.name, op, err, h.site.Log())
	}
	return op
}

// updateOf updates web, and returns how that has ended.
func (h *host) update(t *testing.T) operation.Operation {
	t.Helper()
	return h.await(t, h.begin(t).ID)
}

// sound checks that exactly one container runs, which is the one that the operation says, that nothing was done twice,
// and that the end of the operation is stored once.
func (h *host) sound(t *testing.T, op operation.Operation) {
	t.Helper()
	all, err := h.docker.List(t.Context())
	must(t, err)
	if len(all) != 1 || all[0].Name != "web" || all[0].Status != "running" {
		t.Errorf("%s: containers %+v, want web to run alone", h.name, all)
		return
	}
	isNew := all[0].ID != h.container.ID
	if isNew != (op.State == operation.Succeeded) || isNew && all[0].Image.Tag != "1.1.0" {
		t.Errorf("%s: operation is %s (%s), and the container new: %t, %+v", h.name, op.State, op.Error, isNew, all[0].Image)
	}
	if h.created.Load() > 1 || h.pulled.Load() > 1 {
		t.Errorf("%s: %d containers were created, and %d images pulled", h.name, h.created.Load(), h.pulled.Load())
	}
	if n := endsOf(&h.office.ended, op.ID).times.Load(); n != 1 {
		t.Errorf("%s: the operation has ended %d times", h.name, n)
	}
	seen := map[string]bool{}
	for _, s := range op.Steps {
		if seen[s.ID] {
			t.Errorf("%s: step %s was taken twice", h.name, s.ID)
		}
		seen[s.ID] = s.Ended && s.Error == ""
	}
	for _, s := range op.Plan.Steps {
		if op.State == operation.Succeeded && !seen[s.ID] {
			t.Errorf("%s: step %s is not stored", h.name, s.ID)
		}
	}
}

// each runs cases of a test, as many at once as wait for timers more than they compute.
func each(n int, run func(i int)) {
	var wait sync.WaitGroup
	room := make(chan struct{}, 64)
	for i := range n {
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			run(i)
		})
	}
	wait.Wait()
}

// TestLinkIsCutAnywhereInAnOperation cuts it after each 200th part of what an operation sends: the host goes on, to the
// end or back, and the office learns it once.
func TestLinkIsCutAnywhereInAnOperation(t *testing.T) {
	const cuts = 200
	offices := make([]*office, 8) // as each looks at all of its operations whenever one ends
	for i := range offices {
		offices[i] = newOffice(t, cuts)
	}
	whole := offices[0].newHost(t, "whole", false)
	whole.run(t, whole.local(), agent.Limits{})
	before := whole.site.Bytes()
	op := whole.update(t)
	whole.sound(t, op)
	if op.State != operation.Succeeded {
		t.Fatalf("without a cut: %s: %s", op.State, op.Error)
	}
	sent := whole.site.Bytes() - before
	var states sync.Map
	hosts := make([]*host, cuts)
	for i := range hosts {
		hosts[i] = offices[i%len(offices)].newHost(t, fmt.Sprintf("nas%d", i), i%4 == 3)
	}
	each(cuts, func(i int) {
		h := hosts[i]
		h.run(t, h.local(), agent.Limits{})
		op := h.begin(t)
		h.site.CutAfter(1 + sent*int64(i)/cuts)
		op = h.await(t, op.ID)
		h.sound(t, op)
		want := operation.Succeeded
		if h.broken {
			want = operation.RolledBack
		}
		if h.pulled.Load() == 0 { // it did not arrive
			want = operation.Failed
		}
		if op.State != want {
			t.Errorf("%s: %s: %s, want %s", h.name, op.State, op.Error, want)
		}
		n, _ := states.LoadOrStore(op.State, new(atomic.Int32))
		n.(*atomic.Int32).Add(1)
		h.stop()
	})
	count := func(s operation.State) int32 {
		if n, ok := states.Load(s); ok {
			return n.(*atomic.Int32).Load()
		}
		return 0
	}
	t.Logf("%d bytes; succeeded %d, rolled back %d, nothing done %d", sent, count(operation.Succeeded),
		count(operation.RolledBack), count(operation.Failed))
	if count(operation.Succeeded) < cuts/2 || count(operation.RolledBack) < cuts/8 || count(operation.Failed) == 0 {
		t.Error("the cuts do not reach all of an operation")
	}
}

// mortal is a watcher whose agent is killed at a write of its journal: before it, or right after.
type mortal struct {
	agent.Source
	at    int
	after bool
	kill  func()
	died  chan struct{}
	n     int
}

var errKilled = errors.New("the agent was killed")

func (m *mortal) Apply(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
	return m.Source.Apply(ctx, op, mortalJournal{j, m})
}

type mortalJournal struct {
	watcher.Journal
	m *mortal
}

func (j mortalJournal) write(do func() error) error {
	j.m.n++
	switch {
	case j.m.n > j.m.at:
		return errKilled
	case j.m.n < j.m.at:
		return do()
	}
	if j.m.after {
		_ = do()
	}
	j.m.kill()
	close(j.m.died)
	return errKilled
}

func (j mortalJournal) Begin(ctx context.Context, s watcher.Step) error {
	return j.write(func() error { return j.Journal.Begin(ctx, s) })
}

func (j mortalJournal) End(ctx context.Context, s watcher.Step, facts map[string]string, err error) error {
	return j.write(func() error { return j.Journal.End(ctx, s, facts, err) })
}

// TestAgentIsKilledAtEachStep kills it before and after each write of its journal. The next one finishes or returns to
// what was before, without the office, which learns it once.
func TestAgentIsKilledAtEachStep(t *testing.T) {
	const writes = 24
	o := newOffice(t, 2*writes)
	hosts := make([]*host, 2*writes)
	for i := range hosts {
		hosts[i] = o.newHost(t, fmt.Sprintf("nas%d", i), i%3 == 2)
	}
	var killed, finished atomic.Int32
	each(len(hosts), func(i int) {
		h := hosts[i]
		m := &mortal{Source: h.local(), at: i/2 + 1, after: i%2 == 1, died: make(chan struct{})}
		m.kill = func() { h.kill() }
		h.run(t, m, agent.Limits{})
		op := h.begin(t)
		ended := make(chan operation.Operation, 1)
		go func() { ended <- h.await(t, op.ID) }()
		select {
		case op = <-ended: // it has fewer writes
		case <-m.died:
			killed.Add(1)
			h.site.Refuse(true) // the next one recovers without the office
			h.site.Cut()
			h.stop()
			stop, _ := h.site.Host(t, h.dir, h.local(), agent.Limits{})
			h.stop = stop
			h.settled(t)
			h.site.Refuse(false)
			op = <-ended
		}
		h.sound(t, op)
		if op.State == operation.Succeeded {
			finished.Add(1)
		}
		h.stop()
	})
	t.Logf("killed %d times, %d operations were finished", killed.Load(), finished.Load())
	if killed.Load() < 20 || finished.Load() < 2 {
		t.Error("it was not killed at each step")
	}
}

// settled waits until the agent has an outcome of its operation.
func (h *host) settled(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		files, err := filepath.Glob(filepath.Join(h.dir, agent.RecordsFolder, "*"))
		must(t, err)
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), `{"outcome"`) {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("%s: it recovers nothing\n%s", h.name, h.site.Log())
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// codes are those of reasons.
func codes(all []watcher.Reason) (list []string) {
	for _, r := range all {
		list = append(list, r.Code)
	}
	return slices.Clip(list)
}
