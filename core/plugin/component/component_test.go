package component

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	sdkplugin "github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestMain(m *testing.M) {
	if os.Getenv(protocol.Handshake().MagicCookieKey) != "" {
		sdkplugin.Serve(testBundle())
		return
	}
	os.Exit(m.Run())
}

func testBundle() sdkplugin.Bundle {
	return sdkplugin.Bundle{
		Watchers: []watcher.Type{watcher.Define("engine", "Finds nothing", newEngine, kind.Default("local"),
			watcher.AttributesLabels())},
		Registries: []registry.Type{
			registry.Define("hub", "Serves given hosts", newHub, kind.Default("public")),
			registry.Define("generic", "Serves every host", newGeneric, kind.Default("public")),
			registry.Define("limited", "Knows limits", newLimited),
		},
		Triggers: []trigger.Type{trigger.Define("mail", "Sends nothing", newMail)},
	}
}

type engine struct{}

func newEngine(sdk.Env, struct{}) (engine, error) { return engine{}, nil }

func (engine) List(context.Context) ([]watcher.Container, error) { return nil, nil }

type hubOptions struct {
	Hosts []string `option:"hosts" default:"docker.io" help:"Hosts to serve"`
	URL   string   `option:"url" help:"Base of the API"`
}

type hub struct{ hosts []registry.Host }

func newHub(_ sdk.Env, o hubOptions) (*hub, error) {
	h := &hub{}
	for _, host := range o.Hosts {
		h.hosts = append(h.hosts, registry.Host{Pattern: host, URL: o.URL})
	}
	return h, nil
}

func newGeneric(sdk.Env, struct{}) (*hub, error) {
	return &hub{hosts: []registry.Host{{Pattern: "*"}}}, nil
}

func (h *hub) Hosts() []registry.Host { return h.hosts }
func (h *hub) Tags(context.Context, registry.Repository, string) (registry.TagList, error) {
	return registry.TagList{}, nil
}
func (h *hub) Resolve(context.Context, registry.Repository, string) (string, error) { return "", nil }
func (h *hub) Manifest(context.Context, registry.Repository, string, sdk.Platform) (registry.Manifest, error) {
	return registry.Manifest{}, nil
}

type mailOptions struct {
	Host string `option:"host,required" help:"Server"`
	Port int    `option:"port" default:"25" min:"1" max:"65535" help:"Port"`
	Pass string `option:"pass,secret,mask=none" help:"Password"`
	Key  string `option:"key,secret" help:"Key"`
	Old  string `option:"old" help:"Nothing" deprecated:"use host"`
}

type mail struct{}

func newMail(env sdk.Env, o mailOptions) (mail, error) {
	if o.Host == "refused.example.org" {
		return mail{}, sdk.Invalid("host", "is refused")
	}
	if o.Port == 26 {
		env.Warn("port 26 is odd")
	}
	return mail{}, nil
}

func (mail) Run(context.Context, trigger.Request) error { return nil }

type noTrust struct{}

func (noTrust) Checksum(context.Context, string) ([]byte, bool, error) { return nil, false, nil }
func (noTrust) Trust(context.Context, string, []byte) error            { return nil }

func section(k kind.Kind, typ, name string, options map[string]string) config.Component {
	c := config.Component{Kind: k, Type: typ, Name: name, Options: map[string]config.Value{}}
	for option, v := range options {
		c.Options[option] = config.Value{V: v, Source: "test.yaml:1"}
	}
	return c
}

// load makes a manager of the sections and waits until every plugin has responded.
func load(t testing.TB, opt Options, sections ...config.Component) *Manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "dw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	log := hclog.New(&hclog.LoggerOptions{Output: io.Discard})
	host, err := plugin.New(plugin.Options{
		Builtins: []plugin.Builtin{{Name: "all", Types: testBundle().Types()}}, RunDirs: []string{dir},
		Trust: noTrust{}, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	opt.Plugins, opt.Log = host, log
	if opt.Secrets == nil {
		opt.Secrets = func(...string) {}
	}
	m := New(opt)
	m.Load(sections)
	m.Finish()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := m.Await(ctx); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestWaiting: it names what is not configured yet, and what no plugin holds so far.
func TestWaiting(t *testing.T) {
	m := load(t, Options{})
	if got := m.Waiting(); len(got) > 0 {
		t.Errorf("once all have responded: %q", got)
	}
	for _, c := range m.all {
		if c.base().FullID() == "registry.hub.public" {
			c.base().mu.Lock()
			c.base().state = Pending
			c.base().mu.Unlock()
		}
	}
	m.waiting = []config.Component{{Kind: kind.Trigger, Type: "lamp", Name: "main"}}
	if got, want := m.Waiting(), []string{"registry.hub.public", "trigger.lamp.main"}; !slices.Equal(got, want) {
		t.Errorf("waiting: %q, want %q", got, want)
	}
}

func ids[T based](of []T) []string {
	var all []string
	for _, c := range of {
		all = append(all, c.base().ID())
	}
	return all
}

func TestDefaultComponents(t *testing.T) {
	m := load(t, Options{})
	if got := ids(m.Watchers()); !slices.Equal(got, []string{"engine.local"}) {
		t.Errorf("watchers: %v", got)
	}
	if got := ids(m.Registries()); !slices.Equal(got, []string{"generic.public", "hub.public"}) {
		t.Errorf("registries: %v", got)
	}
	if got := m.Triggers(); len(got) != 0 {
		t.Errorf("triggers: %v", ids(got))
	}
}

// TestEventsByDefault: a type whose messages users read gets the ends of updates.
func TestEventsByDefault(t *testing.T) {
	messages := kind.Type{Name: "lamp", Capabilities: []string{kind.CapProbe, kind.CapMessages}}
	for _, test := range []struct {
		typ    kind.Type
		values option.Values
		want   []string
	}{
		{messages, option.Values{"auto": true}, []string{EventOperation, EventPlugin}},
		{messages, option.Values{"auto": false}, nil},
		{messages, option.Values{"auto": true, "events": []string{"none"}}, []string{"none"}},
		{messages, option.Values{"auto": false, "events": []string{EventWatcher}}, []string{EventWatcher}},
		{kind.Type{Name: "http"}, option.Values{"auto": true}, nil},
		{kind.Type{Name: "http"}, option.Values{"auto": true, "events": []string{EventOperation}}, []string{EventOperation}},
	} {
		trigger := Trigger{Component: Component{Type: test.typ.Name, typ: test.typ}}
		_, err := trigger.setSettings(test.values, &Options{
			ValidateTrigger: func(TriggerOptions) []config.Problem { return nil },
		})
		if err != nil || !slices.Equal(trigger.Settings.Events, test.want) {
			t.Errorf("%s with %v: %v, %v", test.typ.Name, test.values, trigger.Settings.Events, err)
		}
	}
}

// TestTypedLookups: what the kinds share is the same component that the handle of its kind has.
func TestTypedLookups(t *testing.T) {
	m := load(t, Options{}, section(kind.Trigger, "mail", "main", map[string]string{"host": "mx", "threshold": "minor"}))
	shared, known := m.Get(kind.Trigger, "MAIL", "main")
	mail, typed := m.Trigger("mail.Main")
	if !known || !typed || shared != &mail.Component || mail.Settings.Threshold != "minor" {
		t.Errorf("shared %v, trigger %v with %+v", shared, mail, mail.Settings)
	}
	if err := mail.Run(t.Context(), trigger.Request{}); err != nil {
		t.Error(err)
	}
	local, known := m.WatcherNamed("local")
	same, typed := m.Watcher("engine.local")
	if !known || !typed || local != same || !slices.Equal(m.WatcherNames(), []string{"local"}) {
		t.Errorf("watcher %v, %v, names %v", local, same, m.WatcherNames())
	}
	if _, known := m.Registry("mail.main"); known {
		t.Error("a trigger is a registry")
	}
	if _, err := (&Watcher{}).List(t.Context()); !plugin.NotStarted(err) {
		t.Errorf("a watcher without a plugin: %v", err)
	}
}

// TestConfiguredComponentsBesideDefaults: a private registry does not remove the public one, and a configured watcher
// replaces the default one.
func TestConfiguredComponentsBesideDefaults(t *testing.T) {
	m := load(t, Options{},
		section(kind.Registry, "hub", "private", nil), section(kind.Watcher, "engine", "remote", nil))
	if got := ids(m.Registries()); !slices.Equal(got, []string{"generic.public", "hub.private", "hub.public"}) {
		t.Errorf("registries: %v", got)
	}
	if got := ids(m.Watchers()); !slices.Equal(got, []string{"engine.remote"}) {
		t.Errorf("watchers: %v", got)
	}
}

func TestRegistryForPrefersTheMostSpecificPattern(t *testing.T) {
	m := load(t, Options{},
		section(kind.Registry, "hub", "zmirror", map[string]string{"hosts": "docker.io", "url": "http://mirror:5000/v2"}),
		section(kind.Registry, "hub", "wide", map[string]string{"hosts": "*.example.org"}),
		section(kind.Registry, "hub", "second", map[string]string{"hosts": "both.example.com"}),
		section(kind.Registry, "hub", "first", map[string]string{"hosts": "both.example.com"}),
		section(kind.Registry, "hub", "narrow", map[string]string{"hosts": "*.eu.example.org,one.us.example.org,*loose.org"}),
		section(kind.Registry, "hub", "any", map[string]string{"hosts": "*.repo.*.example.net"}),
		section(kind.Registry, "hub", "region", map[string]string{"hosts": "*.repo.a-very-long-region.example.net"}),
		section(kind.Registry, "hub", "team", map[string]string{"hosts": "t.repo.*.example.net"}))
	for host, want := range map[string]string{
		"docker.io":          "hub.zmirror http://mirror:5000/v2", // configured beats default, whatever the order of names
		"ghcr.io":            "generic.public https://ghcr.io/v2",
		"a.example.org":      "hub.wide https://a.example.org/v2",
		"a.eu.example.org":   "hub.narrow https://a.eu.example.org/v2", // the longest suffix
		"ONE.us.example.org": "hub.narrow https://ONE.us.example.org/v2",
		"both.example.com":   "hub.first https://both.example.com/v2", // by the order of names, not of the configuration
		"example.org":        "generic.public https://example.org/v2",
		"localhost:5000":     "generic.public http://localhost:5000/v2",
		"127.0.0.2":          "generic.public http://127.0.0.2/v2",
		"badexample.org":     "generic.public https://badexample.org/v2",  // suffixes are anchored at dots
		"tight-loose.org":    "generic.public https://tight-loose.org/v2", // and a pattern that is not serves no host
		"mydocker.io":        "generic.public https://mydocker.io/v2",

		"x.repo.somewhere.example.net":          "hub.any https://x.repo.somewhere.example.net/v2",
		"x.repo.a-very-long-region.example.net": "hub.region https://x.repo.a-very-long-region.example.net/v2",
		// the name before says more than the region after
		"t.repo.a-very-long-region.example.net": "hub.team https://t.repo.a-very-long-region.example.net/v2",
	} {
		c, url, served := m.RegistryFor(host)
		if !served || c.ID()+" "+url != want {
			t.Errorf("%s: %v %s, want %s", host, c.ID(), url, want)
		}
	}
}

func TestProblemsNameEachMistakeAndLeaveOthersUsable(t *testing.T) {
	m := load(t, Options{},
		section(kind.Trigger, "mail", "good", map[string]string{"host": "mx.example.org", "prot": "25", "old": "x"}),
		section(kind.Trigger, "mail", "bad", map[string]string{"port": "99999", "threshold": "huge"}),
		section(kind.Trigger, "mail", "refused", map[string]string{"host": "refused.example.org"}),
		section(kind.Trigger, "mial", "typo", nil),
		section(kind.Watcher, "engine", "one", nil), section(kind.Watcher, "engine", "one", nil))
	var reported []string
	for _, p := range m.Problems() {
		reported = append(reported, p.Level.String()+" "+p.String())
	}
	all := strings.Join(reported, "\n")
	for _, want := range []string{
		`warning trigger.mail.good.prot: unknown option (test.yaml:1); did you mean trigger.mail.good.port?`,
		`warning trigger.mail.good.old: is deprecated (test.yaml:1); use host`,
		`error trigger.mail.bad.host: is required`,
		`error trigger.mail.bad.port: want 1 to 65535, got "99999" (test.yaml:1)`,
		`error trigger.mail.bad.threshold: want one of all, versions, major, minor, patch, major-only, minor-only, digest, major-no-digest, minor-no-digest, patch-no-digest, major-only-no-digest, minor-only-no-digest, got "huge" (test.yaml:1)`,
		`error trigger.mail.refused.host: is refused`,
		`error trigger.mial: unknown trigger type "mial": did you mean mail?`,
		`error watcher.engine.one: there is a watcher named "one" already`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no problem says %q in:\n%s", want, all)
		}
	}
	for name, want := range map[string]State{"good": Ready, "bad": Failed, "refused": Failed} {
		c, found := m.Get(kind.Trigger, "mail", name)
		if !found {
			t.Fatalf("%s is missing", name)
		}
		if state, _ := c.State(); state != want || c.Usable() != (want == Ready) {
			t.Errorf("%s is %s, usable %v", name, state, c.Usable())
		}
	}
}

// TestProblemsFollowTheirPlugins: what is wrong with a section without a plugin is asked anew, and no other problem.
func TestProblemsFollowTheirPlugins(t *testing.T) {
	awaited := []string{"trigger-lamp"}
	m := load(t, Options{Awaited: func() []string { return awaited }},
		section(kind.Trigger, "lamp", "hall", nil), mailSection("wrong", ""))
	problems := func() string {
		var all []string
		for _, p := range m.Problems() {
			all = append(all, p.Level.String()+" "+p.String())
		}
		return strings.Join(all, "\n")
	}
	const other = "error trigger.mail.wrong.host: is required"
	if all := problems(); !strings.Contains(all, "warning trigger.lamp: no plugin that is here holds") || !strings.Contains(all, other) {
		t.Errorf("while the plugin is awaited: %s", all)
	}
	awaited = nil
	if all := problems(); !strings.Contains(all, `error trigger.lamp: unknown trigger type "lamp"`) || !strings.Contains(all, other) ||
		strings.Contains(all, "no plugin that is here") {
		t.Errorf("once it is not: %s", all)
	}
}

func TestViewHasWarningsOfPluginAndHost(t *testing.T) {
	m := load(t, Options{},
		section(kind.Trigger, "mail", "odd", map[string]string{"host": "mx", "port": "26", "hots": "x"}))
	c, _ := m.Get(kind.Trigger, "MAIL", "Odd")
	w := strings.Join(c.View().Warnings, "\n")
	// of the plugin, and of the host
	for _, want := range []string{"port 26 is odd", "trigger.mail.odd.hots: unknown option"} {
		if !strings.Contains(w, want) {
			t.Errorf("%q is not among the warnings: %s", want, w)
		}
	}
}

// TestViewsMaskSecrets: first character visible, the rest asterisks; some as stored.
func TestViewsMaskSecrets(t *testing.T) {
	options := map[string]string{"host": "mx", "pass": "hunter2", "key": "AKIA123"}
	var secrets []string
	m := load(t, Options{Secrets: func(s ...string) { secrets = append(secrets, s...) }},
		section(kind.Trigger, "mail", "main", options))
	c, _ := m.Get(kind.Trigger, "mail", "main")
	shown := c.StoredView().Configuration
	if shown["pass"] != "hunter2" || shown["key"] != "A******" || shown["threshold"] != "all" ||
		shown["port"] != int64(25) {
		t.Errorf("shown: %v", shown)
	}
	if masked := c.View().Configuration; masked["pass"] != "h******" {
		t.Errorf("masked: %v", masked)
	}
	if !slices.Contains(secrets, "hunter2") || !slices.Contains(secrets, "AKIA123") {
		t.Errorf("the redactor knows %v", secrets)
	}
	all := load(t, Options{MaskAll: true}, section(kind.Trigger, "mail", "main", options))
	if c, _ := all.Get(kind.Trigger, "mail", "main"); c.StoredView().Configuration["pass"] != "h******" {
		t.Errorf("with maskall: %v", c.StoredView().Configuration)
	}
}

func TestHostOptionsAreValidated(t *testing.T) {
	invalid := func(o WatcherOptions) []config.Problem {
		switch o.Cron {
		case "never":
			return []config.Problem{{Key: "cron", Message: "is no cron expression", Level: config.Error}}
		case "odd":
			return []config.Problem{{Key: "cron", Message: "is odd"}}
		}
		return nil
	}
	m := load(t, Options{ValidateWatcher: invalid},
		section(kind.Watcher, "engine", "local", map[string]string{"cron": "never"}))
	c, _ := m.WatcherNamed("local")
	state, err := c.State()
	if state != Failed || err == nil ||
		!strings.Contains(err.Error(), "watcher.engine.local.cron: is no cron expression (test.yaml:1)") {
		t.Errorf("%s: %v", state, err)
	}
	if _, err := c.List(t.Context()); err == nil {
		t.Error("a component that was never configured responds")
	} else if errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it hangs: %v", err)
	}
	// What is only odd is a warning, and does not keep the component from running.
	m = load(t, Options{ValidateWatcher: invalid},
		section(kind.Watcher, "engine", "local", map[string]string{"cron": "odd"}))
	c, _ = m.WatcherNamed("local")
	if state, err := c.State(); state != Ready ||
		!slices.Contains(c.View().Warnings, "watcher.engine.local.cron: is odd (test.yaml:1)") {
		t.Errorf("%s: %v, warnings %q", state, err, c.View().Warnings)
	}
}
