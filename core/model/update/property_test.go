package update_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// TestEqualKeysAreNotifiedOnce lets random things happen to containers and their
// repositories, and checks after each: a key that is as before is no event and
// keeps the time since when it is known, another one is an event and begins anew;
// and a trigger has one delivery for every key there ever was.
func TestEqualKeysAreNotifiedOnce(t *testing.T) {
	const steps = 80
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { walk(t, rand.New(rand.NewPCG(seed, 9)), steps) })
		})
	}
}

func walk(t *testing.T, r *rand.Rand, steps int) {
	s := newSystem(t)
	defer s.close()
	known := map[update.Key]bool{}
	kept, renewed := 0, 0
	for step := range steps {
		what := s.change(r)
		before := s.records()
		found := s.check()
		for subject, is := range s.records() {
			c, was := is.Container, before[subject].Container
			if !c.UpdateAvailable {
				if found[subject] != 0 || !is.FoundAt.IsZero() {
					t.Fatalf("step %d, %s: %s has no update, %d events, found at %v", step, what, subject, found[subject], is.FoundAt)
				}
				continue
			}
			key := update.KeyOf(&c)
			same := was.UpdateAvailable && update.KeyOf(&was) == key
			if same != update.Equal(&was, &c) {
				t.Fatalf("step %d, %s: %s and %s are equal keys (%t), but not by Equal", step, what, update.KeyOf(&was), key, same)
			}
			if same {
				kept++
			} else {
				renewed++
			}
			// One that came back to the same running image may have no second event.
			if n := found[subject]; n > 1 || same && n > 0 || !same && !known[key] && n == 0 {
				t.Fatalf("step %d, %s: %d events for %s after %s", step, what, found[subject], key, update.KeyOf(&was))
			}
			if same != is.FoundAt.Equal(before[subject].FoundAt) {
				t.Fatalf("step %d, %s: %s is known since %v, and was since %v", step, what, key, is.FoundAt,
					before[subject].FoundAt)
			}
			known[key] = true
		}
		if got := s.deliveries(); got != len(known) {
			t.Fatalf("step %d, %s: %d deliveries for %d keys", step, what, got, len(known))
		}
	}
	if kept < steps/2 || renewed < steps/10 || len(known) >= renewed {
		t.Errorf("the walk saw %d updates that stayed, %d others, %d keys: too few to mean something", kept, renewed,
			len(known))
	}
}

// system is a checker and a dispatcher on a real store, with an engine and a registry of the test.
type system struct {
	t       *testing.T
	path    string
	store   *store.Store
	checker *check.Checker
	stop    func()

	running map[string]sdk.Container // by name
	tags    []string
	digest  string // behind the moving tag
	down    bool   // the registry
	last    int64  // the last event that was read
}

// versions has the tags there may be; the first is what containers begin with.
var versions = []string{"1.0.0", "1.0.1", "1.1.0", "2.0.0"}

func newSystem(t *testing.T) *system {
	s := &system{
		t: t, path: filepath.Join(t.TempDir(), "store.db"), running: map[string]sdk.Container{}, tags: versions[:1],
		digest: digestOf("1"),
	}
	s.open()
	for _, name := range []string{"web", "db"} {
		s.run(name, versions[0], digestOf("0"))
	}
	s.run("moving", "latest", digestOf("1"))
	return s
}

func digestOf(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }

// open starts everything on the store file.
func (s *system) open() {
	bus := new(event.Bus)
	opened := storetest.Open(s.t, s.path, store.Options{Bus: bus, Log: hclog.NewNullLogger()})
	s.store = opened
	decisions := decision.New(decision.Options{Store: opened, Log: hclog.NewNullLogger(), Now: time.Now})
	s.checker = check.New(check.Options{
		Queries: registryquery.New(registryquery.Options{
			Registries: s, Cache: forgetful{}, Limits: registryquery.Limits{PerHost: 2, Total: 2},
			Decisions: decisions, Now: time.Now,
		}),
		Decisions: decisions, Events: opened,
		Order: func() []string { return []string{"local"} }, Log: hclog.NewNullLogger(), Now: time.Now,
	})
	dispatcher := dispatch.New(dispatch.Options{
		Triggers: s, Containers: stored{opened}, Store: opened, Bus: bus, Log: hclog.NewNullLogger(), Now: time.Now,
		Links: signedlink.None{}, NotStarted: func(error) bool { return false },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- dispatcher.Run(ctx) }()
	s.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
		if err := opened.Close(); err != nil {
			s.t.Error(err)
		}
	}
}

func (s *system) close() { s.stop() }

// run recreates a container with an image, whose id is always the same for the same digest.
func (s *system) run(name, tag, digest string) {
	c := sdk.Container{
		ID: fmt.Sprint(name, "-", len(s.running), "-", time.Now().UnixNano()), Name: name, Status: "running",
	}
	c.Image = sdk.Image{
		ID: "sha256:" + tag + digest, Name: "team/" + name, OS: "linux", Architecture: "amd64",
		Registry: sdk.Registry{Host: "registry.example"}, Tag: sdk.Tag{Value: tag},
		Digest: sdk.Digest{Repos: []string{"registry.example/team/" + name + "@" + digest}},
	}
	s.running[name] = c
}

// change lets something happen, and says what.
func (s *system) change(r *rand.Rand) string {
	time.Sleep(time.Second)
	name := []string{"web", "db"}[r.IntN(2)]
	switch r.IntN(9) {
	case 0:
		s.tags = versions[:1+r.IntN(len(versions))]
		return fmt.Sprintf("the tags are %v", s.tags)
	case 1:
		s.digest = digestOf(fmt.Sprint(r.IntN(4)))
		return "latest is " + s.digest
	case 2:
		tag := versions[r.IntN(len(versions))]
		s.run(name, tag, digestOf("0"))
		return name + " runs " + tag
	case 3:
		digest := digestOf(fmt.Sprint(r.IntN(4)))
		s.run("moving", "latest", digest)
		return "moving runs " + digest
	case 4:
		c := s.running[name]
		s.run(name, c.Image.Tag.Value, digestOf(fmt.Sprint(r.IntN(3))))
		return name + " is recreated, maybe from another build of its tag"
	case 5:
		c := s.running[name]
		c.Status = []string{"running", "exited"}[r.IntN(2)]
		c.Labels = map[string]string{"any": fmt.Sprint(r.IntN(3))}
		s.running[name] = c
		return name + " has another status and label"
	case 6:
		s.down = r.IntN(3) == 0
		return fmt.Sprintf("the registry is down: %t", s.down)
	case 7:
		s.stop()
		s.open()
		return "a restart"
	}
	return "nothing"
}

// check checks everything, waits for the deliveries and returns how many updates were found of each subject.
func (s *system) check() map[string]int {
	if _, err := s.checker.Run(context.Background(), check.Watcher{
		Name: "local", WatchByDefault: true, Lister: s,
	}); err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
	found := map[string]int{}
	for {
		events, err := s.store.Events(context.Background(), s.last, 1000)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range events {
			s.last = e.ID
			if e.Type == event.UpdateFound {
				found[e.Subject]++
			}
		}
		if len(events) == 0 {
			return found
		}
	}
}

func (s *system) records() map[string]store.Record {
	all := map[string]store.Record{}
	for _, r := range s.store.Snapshot().All() {
		all[event.Subject(r.Container)] = *r
	}
	return all
}

func (s *system) deliveries() int {
	list, err := s.store.Deliveries(context.Background(), store.DeliveryFilter{Limit: 10_000})
	if err != nil {
		s.t.Fatal(err)
	}
	return len(list)
}

// List is the engine's side.
func (s *system) List(context.Context) ([]sdk.Container, error) {
	return slices.SortedFunc(maps.Values(s.running), func(a, b sdk.Container) int {
		return strings.Compare(a.Name, b.Name)
	}), nil
}

// For, Tags, Resolve and Manifest are the registry's side.
func (s *system) For(string) (registryquery.Match, bool) {
	return registryquery.Match{ID: "custom.main", URL: "https://registry.example/v2", Registry: s}, true
}

func (s *system) Tags(context.Context, registry.Repository, string) (registry.TagList, error) {
	return registry.TagList{Tags: s.tags}, s.failure()
}

func (s *system) Resolve(context.Context, registry.Repository, string) (string, error) {
	return s.digest, s.failure()
}

func (s *system) Manifest(
	_ context.Context, _ registry.Repository, digest string, _ sdk.Platform,
) (registry.Manifest, error) {
	return registry.Manifest{Digest: digest, Config: "config of " + digest}, s.failure()
}

func (s *system) failure() error {
	if s.down {
		return sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("out of order"))
	}
	return nil
}

// All and Get are the configured triggers: one that sends every update once.
func (s *system) All() []dispatch.Trigger {
	m, err := dispatch.ParseMessages(dispatch.Templates{SimpleTitle: "title", SimpleBody: "body", BatchTitle: "batch"})
	if err != nil {
		s.t.Error(err)
	}
	return []dispatch.Trigger{{
		ID: "smtp.main", Auto: true, Once: true, IncludeByDefault: true, Messages: m, Runner: sink{},
	}}
}

func (s *system) Get(id string) (dispatch.Trigger, bool) {
	t := s.All()[0]
	return t, t.ID == id
}

type sink struct{}

func (sink) Run(context.Context, trigger.Request) error { return nil }

// stored fits the store to the dispatcher, as the core does.
type stored struct{ *store.Store }

func (s stored) ByID(id string) (sdk.Container, bool) { return container(s.Snapshot().Get(id)) }

func (s stored) ByName(watcher, name string) (sdk.Container, bool) {
	return container(s.Snapshot().Named(watcher, name))
}

func container(r *store.Record, known bool) (sdk.Container, bool) {
	if !known {
		return sdk.Container{}, false
	}
	return r.Container, true
}

// forgetful is a cache without anything in it.
type forgetful struct{}

func (forgetful) Get(context.Context, string) (string, []byte, bool) { return "", nil, false }
func (forgetful) Put(context.Context, string, string, []byte)        {}
