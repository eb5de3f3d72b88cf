package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestConfigurationMistakesNameComponentAndOption configures one component of every type with a mistake, beside some
// without: each mistake is reported with its component and option, and spoils nothing else.
func TestConfigurationMistakesNameComponentAndOption(t *testing.T) {
	t.Parallel()
	for name, spell := range map[string]func(*testing.T, []section) []string{"file": asFile, "variables": asVariables} {
		t.Run(name, func(t *testing.T) {
			c := newCatalogue(t)
			all := []section{{kind.Watcher, "docker", "wrong", map[string]string{
				"socket": c.socket, "watchbydefault": "perhaps",
			}}}
			blames := []string{"watchbydefault"}
			for _, v := range c.vendors {
				all = append(all, section{kind.Registry, v.typ, "wrong", with(v.options, v.mistake)})
				blames = append(blames, v.blames)
			}
			for _, s := range c.services {
				all = append(all, section{kind.Trigger, s.typ, "wrong", with(s.options, s.mistake)})
				blames = append(blames, s.blames)
			}
			right := []section{}
			for _, s := range c.sections() {
				if s.typ == "custom" || s.typ == "http" || s.kind == kind.Watcher {
					right = append(right, s)
				}
			}
			in := install(t, spell(t, append(all, right...))...)

			said, problems, code := in.run("config", "validate")
			if code != 1 {
				t.Errorf("config validate ends with %d: %s%s", code, said, problems)
			}
			d := in.start()
			d.loaded()
			for i, s := range all {
				view := get[component.View](d, http.MethodGet, s.path())
				if view.State != component.Failed || !strings.Contains(view.Error, blames[i]) {
					t.Errorf("%s: %s, %q, want %s in it", s.id(), view.State, view.Error, blames[i])
				}
				if key := s.id() + "." + blames[i]; !strings.Contains(said, key) {
					t.Errorf("config validate does not name %s", key)
				}
				said += view.Error
			}
			if t.Failed() {
				t.Log(said)
			}
			c.works(t, d, right)
			d.stop()
			for _, secret := range c.secrets() {
				if strings.Contains(said+problems+d.said(), secret) {
					t.Errorf("%q is told", secret)
				}
			}
		})
	}
}

// works: what has no mistake finds an update and tells of it.
func (c *catalogue) works(t *testing.T, d *daemon, right []section) {
	t.Helper()
	for _, s := range right {
		if view := get[component.View](d, http.MethodGet, s.path()); view.State != component.Ready || view.Error != "" {
			t.Errorf("%s: %s, %q", s.id(), view.State, view.Error)
		}
	}
	for _, v := range c.vendors {
		if v.typ != "custom" {
			continue
		}
		c.sims[v.host].Push(v.repo(), "1.1.0")
		c.engine.AddImage(enginesim.Image{Tags: []string{v.image("1.0.0")}})
		_, err := c.engine.Create(enginesim.Container{Name: "custom", Image: v.image("1.0.0")})
		must(t, err)
	}
	found := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	if len(found) != 1 || found[0].Check.State != sdk.CheckOK || !found[0].UpdateAvailable {
		t.Errorf("found %s", show(found))
	}
	eventually(t, "the update is told", func() bool { return len(c.received.texts("http", "custom")) == 1 })
}

// TestWrongRegistryLoginsAreReported configures every registry with a login that is not right: each
// check says whose it is and what to mend, sends the login to no other host, and
// repeats it nowhere.
func TestWrongRegistryLoginsAreReported(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t)
	c.net = newInternet(t, c.net.login)
	strict := slices.Clone(c.vendors)
	for i := range strict {
		strict[i].password += "-of-somebody-else"
		c.vendors[i].options = with(c.vendors[i].options, map[string]string{
			"proxy": "http://" + c.net.login + "@" + c.net.proxy, "tls.cafile": c.net.file,
		})
	}
	c.sims = c.net.registries(strict)
	c.populate(t)
	in := install(t, asVariables(t, c.sections())...)
	d := in.start()
	d.loaded()
	found := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	if len(found) != len(c.vendors) {
		t.Errorf("%d containers, want %d", len(found), len(c.vendors))
	}
	for _, got := range found {
		switch {
		case got.Name == "oci": // which has no login
		case got.Check.State != sdk.CheckFailed || got.Error == nil ||
			!strings.Contains(got.Error.Message, "; check ") ||
			!strings.Contains(got.Error.Message, " of registry."+got.Name+".main"):
			t.Errorf("%s", show(got))
		}
	}
	same(t, "the logins that hosts were shown", c.net.logins(), logins(c.vendors))
	said := c.sweep(t, d)
	d.stop()
	c.nothingLeaks(t, in, said+d.said())
}
