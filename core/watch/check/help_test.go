package check

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// The bounds that registries are asked within, as users know them; see package registryquery.
const (
	shortPause       = 5 * time.Second
	defaultPause     = time.Minute
	maxPause         = 6 * time.Hour
	failureBudget    = 2 * time.Minute
	absentFor        = 6 * time.Hour
	describedFresh   = time.Minute
	droppedFresh     = 30 * 24 * time.Hour
	datePause        = 6 * time.Hour
	datesPerHour     = 30
	maxDatesPerCheck = 10
	tagsPerVersion   = 8
	versionPause     = 10 * time.Minute
	maxScopeHints    = 120
	maxSkipped       = 5
	maxPerLevel      = 10
	recoveryPage     = 200

	builtHere    = "built here, so no registry has a newer one"
	versionLabel = "org.opencontainers.image.version"
)

// fixture is a Checker with a real store, and an engine and registries of the test.
type fixture struct {
	*Checker
	decisions *decision.Decisions
	opt       options
	t         testing.TB
	store     *store.Store
	engine    *engine
	hub       *fake            // serves docker.io
	others    map[string]*fake // serve their host
	order     []string
	log       *strings.Builder
}

// options are those of a Checker and of what it asks and hands over to.
type options struct {
	Options
	Queries registryquery.Options
	Decide  decision.Options
	Store   decision.Store
}

// open makes a fixture. Its change functions see it before the Checker is made.
func open(t testing.TB, change ...func(*fixture, *options)) *fixture {
	t.Helper()
	w := &fixture{
		t: t, engine: &engine{}, hub: newFake(), others: map[string]*fake{}, order: []string{"local"},
		log: new(strings.Builder),
	}
	log := hclog.New(&hclog.LoggerOptions{Output: &locked{w: w.log}, Level: hclog.Debug})
	opened := storetest.Open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{Log: hclog.NewNullLogger()})
	w.store = opened
	t.Cleanup(func() { _ = opened.Close() }) // closed by the test where a bubble ends before the cleanup
	w.opt = options{
		Options: Options{WatchFloating: true, Order: func() []string { return w.order }, Log: log, Now: time.Now},
		Queries: registryquery.Options{
			Registries: w, Cache: cached{opened}, Limits: registryquery.Limits{PerHost: 4, Total: 16},
		},
		Store: opened,
	}
	for _, c := range change {
		c(w, &w.opt)
	}
	w.restart()
	return w
}

// restart makes the Checker anew, which knows what is stored.
func (w *fixture) restart() {
	w.Checker = assemble(w.opt)
	w.decisions = w.Checker.opt.Decisions
}

// assemble makes a Checker with what it asks and hands over to.
func assemble(opt options) *Checker {
	var checker *Checker
	opt.Decide.Store, opt.Decide.Log, opt.Decide.Now = opt.Store, opt.Log, opt.Now
	opt.Decide.WriteReleaseLinks = func(c *sdk.Container) error { return checker.WriteReleaseLinks(c) }
	decisions := decision.New(opt.Decide)
	opt.Queries.Decisions, opt.Queries.Now = decisions, opt.Now
	opt.Options.Queries, opt.Decisions, opt.Events = registryquery.New(opt.Queries), decisions, opt.Store
	checker = New(opt.Options)
	return checker
}

// spares has a new Checker ask for dates as well, as far as hosts have requests to spare.
func (w *fixture) spares(limits func() []registry.Limit) {
	w.opt.Queries.Spare = func(context.Context, string) []registry.Limit { return limits() }
	w.restart()
}

// locked lets loggers of several goroutines share a builder.
type locked struct {
	mu sync.Mutex
	w  *strings.Builder
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// For serves docker.io by the hub and other hosts by theirs; "unserved.example" has none.
func (w *fixture) For(host string) (registryquery.Match, bool) {
	switch r, known := w.others[host]; {
	case host == "docker.io":
		m := registryquery.Match{ID: "hub.public", URL: "https://registry-1.docker.io/v2", Registry: w.hub}
		if w.hub != nil && w.hub.described != nil {
			m.Describer = w.hub
		}
		return m, true
	case known:
		return registryquery.Match{
			ID: "custom." + strings.NewReplacer(".", "", ":", "").Replace(host), URL: "https://" + host + "/v2", Registry: r,
		}, true
	}
	return registryquery.Match{}, false
}

func (w *fixture) host(name string) *fake {
	w.others[name] = newFake()
	return w.others[name]
}

func (w *fixture) local() Watcher {
	return Watcher{Name: "local", WatchByDefault: true, Lister: w.engine}
}

// run makes a check of the watcher "local", which must succeed.
func (w *fixture) run() event.Check {
	w.t.Helper()
	report, err := w.Run(context.Background(), w.local())
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// get returns a stored container.
func (w *fixture) get(id string) sdk.Container {
	w.t.Helper()
	r, found := w.store.Snapshot().Get(id)
	if !found {
		w.t.Fatalf("container %s is not stored", id)
	}
	return r.Container
}

// events returns "type subject" of the events after a position, without those of whole checks.
func (w *fixture) events(after int64) (list []string, last int64) {
	w.t.Helper()
	last = after
	for {
		events, err := w.store.Events(context.Background(), last, 1000)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(events) == 0 {
			return list, last
		}
		for _, e := range events {
			last = e.ID
			if e.Check == nil {
				list = append(list, string(e.Type)+" "+e.Subject)
			}
		}
	}
}

// cached fits the store to a Cache, as the core does.
type cached struct{ *store.Store }

func (c cached) Get(ctx context.Context, key string) (string, []byte, bool) {
	e, found, _ := c.CacheGet(ctx, key)
	return e.Validator, e.Body, found
}

func (c cached) Put(ctx context.Context, key, validator string, body []byte) {
	_ = c.CachePut(ctx, store.CacheEntry{Key: key, Validator: validator, Body: body})
}

// engine lists what the test put into it.
type engine struct {
	mu    sync.Mutex
	list  []sdk.Container
	err   error
	lists int
	began chan struct{} // if set, gets a value for every List
	wait  chan struct{} // if set, List waits for it
}

func (e *engine) List(ctx context.Context) ([]sdk.Container, error) {
	e.mu.Lock()
	e.lists++
	began, wait := e.began, e.wait
	e.mu.Unlock()
	if began != nil {
		began <- struct{}{}
	}
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.list), e.err
}

func (e *engine) has(list ...sdk.Container) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = list
}

// digest returns a well-formed digest that is easy to recognise: digest("a") is sha256:aaa…
func digest(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }

// container is one as a watcher lists it: pulled from where its image says, as
// the index digest("1"), and with the id digest("c") of its configuration.
func container(name, image string, labels ...string) sdk.Container {
	c := sdk.Container{ID: "id-" + name, Name: name, Status: "running", Labels: map[string]string{}}
	c.Image = sdk.Image{ID: digest("c"), OS: "linux", Architecture: "amd64"}
	colon := strings.LastIndexByte(image, ':')
	c.Image.Name, c.Image.Tag.Value = image[:colon], image[colon+1:]
	c.Image.Digest.Repos = []string{c.Image.Name + "@" + digest("1")}
	if host, path, found := strings.Cut(c.Image.Name, "/"); found && strings.ContainsAny(host, ".:") {
		c.Image.Registry.Host, c.Image.Name = host, path
	}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		c.Labels[key] = value
	}
	return c
}

// fake is a registry whose answers the test sets. Absent ones are "not found".
type fake struct {
	mu        sync.Mutex
	tags      map[string][]string          // by repository
	digests   map[string]string            // by "repository:tag"
	manifests map[string]registry.Manifest // by digest, or by "digest platform"
	stamps    map[string]string            // validators, by repository
	// by repository, and by "repository:tag"; nil for a registry that describes none
	described  map[string][]registry.DescribedTag
	errs       map[string]error // by request
	seen       []string
	scopeHints [][]string
	underWay   int
	most       int
	before     func(ctx context.Context, request string) error // runs before the response
	refuses    func(sdk.Credentials) error                     // if set, is what who asks gets by its credentials
	lent       int                                             // requests with credentials
}

func newFake() *fake {
	return &fake{
		tags: map[string][]string{}, digests: map[string]string{}, manifests: map[string]registry.Manifest{},
		stamps: map[string]string{}, errs: map[string]error{},
	}
}

// begin notes a request; the error is its answer.
func (f *fake) begin(ctx context.Context, repo registry.Repository, format string, args ...any) error {
	request := fmt.Sprintf(format, args...)
	f.mu.Lock()
	f.seen = append(f.seen, request)
	f.scopeHints = append(f.scopeHints, repo.ScopeHints)
	f.underWay++
	f.most = max(f.most, f.underWay)
	err, before := f.errs[request], f.before
	if repo.Credentials != (sdk.Credentials{}) {
		f.lent++
	}
	if f.refuses != nil {
		err = errors.Join(err, f.refuses(repo.Credentials))
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.underWay--
		f.mu.Unlock()
	}()
	if before != nil {
		err = errors.Join(err, before(ctx, request))
	}
	return err
}

func (f *fake) Tags(ctx context.Context, repo registry.Repository, validator string) (registry.TagList, error) {
	if err := f.begin(ctx, repo, "tags %s %s", repo.Name, validator); err != nil {
		return registry.TagList{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	tags, known := f.tags[repo.Name]
	stamp := f.stamps[repo.Name]
	switch {
	case !known:
		return registry.TagList{}, sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%s has no repository %s", repo.Host, repo.Name))
	case stamp != "" && stamp == validator:
		return registry.TagList{NotModified: true, Validator: stamp}, nil
	}
	return registry.TagList{Tags: slices.Clone(tags), Validator: stamp}, nil
}

func (f *fake) Resolve(ctx context.Context, repo registry.Repository, tag string) (string, error) {
	if err := f.begin(ctx, repo, "resolve %s:%s", repo.Name, tag); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	d, known := f.digests[repo.Name+":"+tag]
	if !known {
		return "", sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%s has no tag %s of %s", repo.Host, tag, repo.Name))
	}
	return d, nil
}

func (f *fake) Manifest(
	ctx context.Context, repo registry.Repository, digest string, p sdk.Platform,
) (registry.Manifest, error) {
	platform := strings.TrimSuffix(p.OS+"/"+p.Architecture+"/"+p.Variant, "/")
	if err := f.begin(ctx, repo, "manifest %s@%s %s", repo.Name, digest, platform); err != nil {
		return registry.Manifest{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m, known := f.manifests[digest+" "+platform]; known {
		return m, nil
	}
	m, known := f.manifests[digest]
	if !known {
		return m, sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("no image for %s", platform))
	}
	return m, nil
}

func (f *fake) DescribeTags(
	ctx context.Context, repo registry.Repository, tag string, _ sdk.Platform,
) ([]registry.DescribedTag, error) {
	name := strings.TrimSuffix(repo.Name+":"+tag, ":")
	if err := f.begin(ctx, repo, "describe %s", name); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.described[name]), nil
}

// requests returns the requests since the last call, sorted.
func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := f.seen
	f.seen = nil
	for i := range seen {
		seen[i] = strings.TrimSpace(seen[i])
	}
	slices.Sort(seen)
	return seen
}

func equal(t testing.TB, about string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got  %q\n want %q", about, got, want)
	}
}

func contains(t testing.TB, about, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q does not contain %q", about, text, part)
		}
	}
}

// manifest is one whose own digest and configuration are easy to recognise.
func manifest(own, config string) registry.Manifest {
	return registry.Manifest{Digest: digest(own), Config: digest(config)}
}
