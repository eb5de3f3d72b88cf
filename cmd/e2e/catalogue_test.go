package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/triggers"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// apart are the trigger types that have tests of their own: those that change containers, and the one that sends
// nothing before a browser has subscribed.
var apart = []string{"docker", "dockercompose", "webpush"}

// section is a component as a user configures it.
type section struct {
	kind      kind.Kind
	typ, name string
	options   map[string]string
}

func (s section) id() string { return string(s.kind) + "." + s.typ + "." + s.name }

// path is where the API has it.
func (s section) path() string {
	return "/api/" + map[kind.Kind]string{
		kind.Watcher: "watchers", kind.Registry: "registries", kind.Trigger: "triggers",
	}[s.kind] + "/" + s.typ + "/" + s.name
}

// catalogue is one component of every registry and trigger type, all of which
// work: their servers are those of vendors and services.
type catalogue struct {
	vendors  []vendor
	services []service
	net      *internet
	sims     map[string]*registrysim.Registry
	received received
	engine   *enginesim.Engine
	socket   string
}

func newCatalogue(t *testing.T) *catalogue {
	t.Helper()
	c := &catalogue{
		vendors: vendors(), net: newInternet(t, "carrier:"+marker+"-proxy"), received: received{},
		engine: enginesim.New(enginesim.Config{}),
	}
	c.sims = c.net.registries(c.vendors)
	c.net.site("hub.docker.com") // which knows none of the repositories
	online := services()
	c.net.services(t, online, c.received)
	travel := map[string]string{"proxy": "http://" + c.net.login + "@" + c.net.proxy, "tls.cafile": c.net.file}
	for i := range c.vendors {
		c.vendors[i].options = with(c.vendors[i].options, travel)
	}
	for _, s := range online {
		s.options = with(s.options, travel)
		c.services = append(c.services, s)
	}
	c.services = append(c.services, localServices(t, c.net.authority, c.received)...)
	slices.SortFunc(c.services, func(a, b service) int { return strings.Compare(a.typ, b.typ) })

	c.listen(t)
	return c
}

// listen starts the engine that the watcher asks.
func (c *catalogue) listen(t *testing.T) {
	t.Helper()
	server, err := c.engine.Listen(shortDir(t))
	must(t, err)
	t.Cleanup(func() { server.Close() })
	c.socket = server.Address
}

// complete fails the test when a type is missing here.
func (c *catalogue) complete(t *testing.T) {
	t.Helper()
	var vendors, services, registryTypes, triggerTypes []string
	for _, v := range c.vendors {
		vendors = append(vendors, v.typ)
	}
	for _, s := range c.services {
		services = append(services, s.typ)
	}
	for _, typ := range registries.Types() {
		registryTypes = append(registryTypes, typ.Name)
	}
	for _, typ := range triggers.Types() {
		if _, here := c.received["mqtt"]; (here || typ.Name != "mqtt") && !slices.Contains(apart, typ.Name) {
			triggerTypes = append(triggerTypes, typ.Name)
		}
	}
	same(t, "registry types", vendors, registryTypes)
	same(t, "trigger types", services, triggerTypes)
}

func (c *catalogue) sections() (all []section) {
	for _, v := range c.vendors {
		all = append(all, section{kind.Registry, v.typ, "main", v.options})
	}
	for _, s := range c.services {
		all = append(all, section{kind.Trigger, s.typ, "main", s.options})
	}
	return append(all, section{kind.Watcher, "docker", "main", map[string]string{
		"socket": c.socket, "watchatstart": "false", "cron": "0 0 1 1 *", "jitter": "0",
	}})
}

// asFile writes the sections as a configuration file and returns the variable that names it.
func asFile(t *testing.T, all []section) []string {
	t.Helper()
	tree := map[kind.Kind]map[string]map[string]map[string]string{}
	for _, s := range all {
		if tree[s.kind] == nil {
			tree[s.kind] = map[string]map[string]map[string]string{}
		}
		if tree[s.kind][s.typ] == nil {
			tree[s.kind][s.typ] = map[string]map[string]string{}
		}
		tree[s.kind][s.typ][s.name] = s.options
	}
	path := filepath.Join(t.TempDir(), "dogwatch.yaml")
	must(t, os.WriteFile(path, []byte(show(tree)), 0o600)) // JSON is YAML
	return []string{"DOGWATCH_CONFIG=" + path}
}

// asVariables writes the sections as What's Up Docker's users do.
func asVariables(_ *testing.T, all []section) (env []string) {
	for _, s := range all {
		name := "WUD_" + strings.ToUpper(string(s.kind)+"_"+s.typ+"_"+s.name+"_")
		if s.kind == kind.Watcher { // of which there is only one type
			name = "WUD_WATCHER_" + strings.ToUpper(s.name) + "_"
		}
		for _, key := range sorted(s.options) {
			env = append(env, name+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))+"="+s.options[key])
		}
	}
	return env
}

// settle replaces what differs from run to run.
func (c *catalogue) settle(text string) string {
	replace := []string{c.net.proxy, "PROXY", c.net.file, "CA"}
	for _, s := range c.services {
		for _, key := range []string{"brokers", "cmd", "port"} {
			if value := s.options[key]; value != "" {
				replace = append(replace, strings.Trim(show(value), `"`), strings.ToUpper(key))
			}
		}
		if s.typ == "mqtt" {
			replace = append(replace, s.options["url"], "URL")
		}
	}
	return strings.NewReplacer(replace...).Replace(text)
}

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if got != string(want) {
		t.Errorf("%s is not what is expected (-update rewrites it); got\n%s", name, got)
	}
}

// TestEveryComponentType configures one component of every type, in each of the two ways, and uses them all.
func TestEveryComponentType(t *testing.T) {
	t.Parallel()
	for name, spell := range map[string]func(*testing.T, []section) []string{"file": asFile, "variables": asVariables} {
		t.Run(name, func(t *testing.T) {
			c := newCatalogue(t)
			c.complete(t)
			c.populate(t)
			in := install(t, spell(t, c.sections())...)
			d := in.start()
			d.loaded()
			c.listed(t, d)
			c.posted(t, d)
			c.tested(t, d)
			c.used(t, d)
			said := c.sweep(t, d)
			said += c.tried(t, in, name == "file")
			d.stop()
			said += d.said()
			c.nothingLeaks(t, in, said)
			if lost := c.net.unknownHosts(); len(lost) != 0 {
				t.Errorf("asked of hosts that do not exist: %q", lost)
			}
		})
	}
	t.Run("mqtt", func(t *testing.T) { require(t, "mosquitto", "mosquitto") }) // says so when its row was left out
}

// loaded waits until every plugin has said what it makes of its components.
func (d *daemon) loaded() {
	d.t.Helper()
	eventually(d.t, "every component is ready or has failed", func() bool {
		_, watchers := d.request(http.MethodGet, "/api/watchers", "") // the last to be there
		_, registries := d.request(http.MethodGet, "/api/registries", "")
		_, triggers := d.request(http.MethodGet, "/api/triggers", "")
		return len(watchers) > len("[]") &&
			!strings.Contains(string(registries)+string(triggers)+string(watchers), `"state":"starting"`)
	})
}

// said is the log so far.
func (d *daemon) said() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

// notified is the container whose update every trigger is notified of.
const notified = "hub"

// populate runs a container of every registry. One of them triggers are notified of.
func (c *catalogue) populate(t *testing.T) {
	t.Helper()
	var all []string
	for _, s := range c.services {
		all = append(all, s.typ+".main")
	}
	for _, v := range c.vendors {
		image, _ := c.sims[v.requested()].Image(v.repo(), "1.0.0")
		ref := v.image("1.0.0")
		c.engine.AddImage(enginesim.Image{
			Tags: []string{ref}, Digests: []string{strings.TrimSuffix(ref, ":1.0.0") + "@" + image.Digest},
			Created: image.Platforms[0].Created,
		})
		labels := map[string]string{"wud.trigger.exclude": strings.Join(all, ",")}
		if v.typ == notified {
			labels = nil
		}
		_, err := c.engine.Create(enginesim.Container{Name: v.typ, Image: ref, Labels: labels})
		must(t, err)
	}
}

// listed: the API has every component, with its secrets masked.
func (c *catalogue) listed(t *testing.T, d *daemon) {
	t.Helper()
	for _, k := range []string{"registries", "triggers"} {
		all := get[[]map[string]any](d, http.MethodGet, "/api/"+k)
		for _, item := range all {
			one := get[map[string]any](d, http.MethodGet, fmt.Sprintf("/api/%s/%s/%s", k, item["type"], item["name"]))
			same(t, fmt.Sprint(item["id"]), one, item)
		}
		// Without mosquitto, there is no mqtt to compare.
		if _, here := c.received["mqtt"]; here || k != "triggers" {
			golden(t, "catalogue/"+k+".json", c.settle(show(all))+"\n")
		}
	}
}

// posted: each trigger works when a client posts a container to it.
func (c *catalogue) posted(t *testing.T, d *daemon) {
	t.Helper()
	body := `{"id":"1","name":"made-up","watcher":"main","result":{"tag":"1.1.0"},"updateAvailable":true,"updateKind":{"kind":"tag","localValue":"1.0.0","remoteValue":"1.1.0","semverDiff":"minor"}}`
	c.received["mock"] = func() (all []string) {
		for line := range strings.Lines(d.said()) {
			if strings.Contains(line, `"mock":"catalogue"`) {
				all = append(all, line)
			}
		}
		return all
	}
	for _, s := range c.services {
		if status, response := d.request(http.MethodPost, "/api/triggers/"+s.typ+"/main",
			body); status != http.StatusOK || string(response) != "{}" {
			t.Errorf("%s: %d %s", s.typ, status, response)
		}
	}
	c.awaitUpdate(t, "made-up")
}

// tested: every component can be tested through the API.
func (c *catalogue) tested(t *testing.T, d *daemon) {
	t.Helper()
	try := func(path, body, want string) {
		t.Helper()
		if status, response := d.request(http.MethodPost, path+"/test", body); status != http.StatusOK ||
			!strings.Contains(string(response), want) {
			t.Errorf("%s: %d %s, want %s", path, status, response, want)
		}
	}
	for _, s := range c.services {
		try("/api/triggers/"+s.typ+"/main", "", `"title":"New tag found for container test-web"`)
	}
	for _, s := range c.services {
		c.awaitSamples(t, s, 1)
	}
	for _, v := range c.vendors {
		try("/api/registries/"+v.typ+"/main", fmt.Sprintf(`{"image":%q}`, v.image("1.0.0")), v.image("1.0.0")+" is sha256:")
	}
	try("/api/watchers/docker/main", "", fmt.Sprintf(`"answer":"%d containers, `, len(c.vendors)))
}

// awaitSamples waits until a service has received so many samples.
func (c *catalogue) awaitSamples(t *testing.T, s service, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s receives %d samples", s.typ, n), func() bool {
		return len(c.received.texts(s.typ, s.about("test-web", "local"))) == n
	})
}

// awaitUpdate waits until every service has received the update of a container, and requires that it did so once.
func (c *catalogue) awaitUpdate(t *testing.T, name string) {
	t.Helper()
	for _, s := range c.services {
		piece := s.about(name, "main")
		// A state may be published twice; what is published before the update is not meant.
		of := func() []string {
			return slices.DeleteFunc(c.received.texts(s.typ, piece), func(text string) bool {
				return !strings.Contains(text, "1.1.0")
			})
		}
		eventually(t, s.typ+" receives "+name, func() bool { return len(of()) > 0 })
		if texts := slices.Compact(of()); len(texts) != 1 || !strings.Contains(texts[0], "1.0.0") {
			t.Errorf("%s received of %s: %q", s.typ, name, texts)
		}
	}
}

// used: every registry answers a check, with the login it was given and sends it to no other host;
// every trigger delivers what a check found, once.
func (c *catalogue) used(t *testing.T, d *daemon) {
	t.Helper()
	found := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	if len(found) != len(c.vendors) {
		t.Fatalf("%d containers, want %d", len(found), len(c.vendors))
	}
	for _, got := range found {
		if got.Check.State != sdk.CheckOK || got.UpdateAvailable || got.Image.Registry.Name != got.Name+".main" {
			t.Errorf("at first: %s", show(got))
		}
	}
	for _, v := range c.vendors {
		c.sims[v.requested()].Push(v.repo(), "1.1.0")
	}
	for range 2 {
		get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	}
	for _, got := range d.containers() {
		if got.Check.State != sdk.CheckOK || !got.UpdateAvailable || got.Result.Tag != "1.1.0" ||
			got.UpdateKind.SemverDiff != "minor" {
			t.Errorf("then: %s", show(got))
		}
	}
	c.awaitUpdate(t, notified)
	d.settled()
	deliveries := get[[]struct {
		Trigger, State string
		Manual         bool
		Attempts       int
	}](d, http.MethodGet, "/api/deliveries")
	for _, s := range c.services {
		planned, manual := 0, 0 // a client's post is a manual run
		for _, delivery := range deliveries {
			switch {
			case delivery.Trigger != s.typ+".main" || delivery.State != "sent" || delivery.Attempts != 1:
			case delivery.Manual:
				manual++
			default:
				planned++
			}
		}
		if planned != 1 || manual != 1 {
			t.Errorf("%s: %d planned deliveries and %d manual runs, want one of each", s.typ, planned, manual)
		}
	}
	if len(deliveries) != 2*len(c.services) {
		t.Errorf("%d deliveries: %s", len(deliveries), show(deliveries))
	}

	// Tokens that end before their time are fetched anew.
	for _, sim := range c.sims {
		sim.ExpireTokens()
	}
	for _, got := range get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch") {
		if got.Check.State != sdk.CheckOK {
			t.Errorf("without its token: %s", show(got))
		}
	}

	want := logins(c.vendors)
	want["hooks.example.com"] = []string{"ana:" + marker + "-http"}
	same(t, "the logins that hosts were shown", c.net.logins(), want)
}
