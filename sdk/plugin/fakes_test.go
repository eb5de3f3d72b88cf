package plugin_test

import (
	"context"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// fakeOptions are those of the fakes.
type fakeOptions struct {
	Label string `option:"label" help:"Tells instances apart"`
	Token string `option:"token,secret" help:"A secret"`
}

// fakes counts the instances of a test and holds what they do when called.
type fakes struct {
	create    func(sdk.Env, fakeOptions) error
	run       func(context.Context, *fake, trigger.Request) error
	subscribe func(context.Context, trigger.StateStream) error
	list      func(context.Context) ([]watcher.Container, error)
	watch     func(context.Context, func(watcher.Event)) error
	tags      func(context.Context, registry.Repository, string) (registry.TagList, error)
	apply     func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error)

	mu      sync.Mutex
	created []string
	closed  chan string
}

// fake is one instance of any kind.
type fake struct {
	all   *fakes
	env   sdk.Env
	label string
}

func newFakes() *fakes { return &fakes{closed: make(chan string, 100)} }

func (f *fakes) new(env sdk.Env, o fakeOptions) (*fake, error) {
	if f.create != nil {
		if err := f.create(env, o); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.created = append(f.created, o.Label)
	return &fake{f, env, o.Label}, nil
}

func (f *fakes) bundle() plugin.Bundle {
	return plugin.Bundle{
		Version:    "1.2.3",
		Watchers:   []watcher.Type{watcher.Define("fakewatcher", "Watches nothing", f.new)},
		Registries: []registry.Type{registry.Define("fakeregistry", "Holds nothing", f.new)},
		Triggers:   []trigger.Type{trigger.Define("fake", "Does nothing", f.new)},
	}
}

// serve serves the fakes with a trigger instance called "main".
func (f *fakes) serve(t *testing.T) (*pluginclient.Client, *plugintest.Log) {
	t.Helper()
	log := &plugintest.Log{}
	c := inprocess.Serve(t, f.bundle(), log)
	configure(t, c, kind.Trigger, "fake", "first")
	return c, log
}

func id(k kind.Kind, typ string) string { return string(k) + "." + typ + ".main" }

const mainTrigger = "trigger.fake.main"

func configure(t *testing.T, c *pluginclient.Client, k kind.Kind, typ, label string) pluginclient.Configured {
	t.Helper()
	configured, err := c.Configure(t.Context(), pluginclient.Instance{
		ID: id(k, typ), Kind: k, Type: typ, Options: option.Values{"label": label},
	})
	if err != nil {
		t.Fatalf("configure: %v", err)
	}
	return configured
}

func (f *fake) Close() error { f.all.closed <- f.label; return nil }

func (f *fake) Run(ctx context.Context, req trigger.Request) error {
	if f.all.run == nil {
		return nil
	}
	return f.all.run(ctx, f, req)
}

func (f *fake) Subscribe(ctx context.Context, w trigger.StateStream) error {
	return f.all.subscribe(ctx, w)
}

func (f *fake) List(ctx context.Context) ([]watcher.Container, error) { return f.all.list(ctx) }

func (f *fake) Watch(ctx context.Context, emit func(watcher.Event)) error {
	return f.all.watch(ctx, emit)
}

func (f *fake) Plan(_ context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	return watcher.Plan{ContainerID: req.ContainerID, To: watcher.PlannedImage{Reference: req.Image.Reference}}, nil
}

func (f *fake) Apply(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
	return f.all.apply(ctx, op, j)
}

func (f *fake) Recover(_ context.Context, op watcher.Operation, _ watcher.Journal) (watcher.Outcome, error) {
	return watcher.Outcome{State: watcher.RolledBack, ContainerID: op.Request.ContainerID}, nil
}

func (f *fake) Hosts() []registry.Host {
	return []registry.Host{{Pattern: "*.example.org", URL: "https://api.example.org/v2"}, {Pattern: "*"}}
}

func (f *fake) Tags(ctx context.Context, repo registry.Repository, validator string) (registry.TagList, error) {
	return f.all.tags(ctx, repo, validator)
}

func (f *fake) Resolve(_ context.Context, repo registry.Repository, tag string) (string, error) {
	return repo.Host + "/" + repo.Name + ":" + tag, nil
}

func (f *fake) Manifest(
	_ context.Context, _ registry.Repository, digest string, p sdk.Platform,
) (registry.Manifest, error) {
	return registry.Manifest{Digest: digest, Config: p.OS + "/" + p.Architecture + "/" + p.Variant}, nil
}
