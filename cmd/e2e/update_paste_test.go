package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// refusal is why an update is not planned, as the API says it.
type refusal struct {
	Code  string
	Paste config.Paste
}

// planned asks for the plan of the update of a container.
func (d *daemon) planned(c sdk.Container) (r refusal) {
	d.t.Helper()
	_, body := d.request(http.MethodPost, "/api/containers/"+c.ID+"/plan", "{}")
	must(d.t, json.Unmarshal(body, &r))
	return r
}

// TestLinesToPasteAllowUpdates: what the API, the command line and the pages offer to paste allows updating, in
// a compose file and in a configuration file, of a watcher that nobody configured, one of variables and one of a file.
func TestLinesToPasteAllowUpdates(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, registrysim.Options{})
	f.registries[0].Push(f.repo(0), "1.0.1")
	const update = "DOGWATCH_WATCHER_LOCAL_UPDATE=false"
	engine := "unix://" + strings.TrimPrefix(f.socket, "unix://")
	registry := "DOGWATCH_REGISTRY_CUSTOM_SIM_URL=http://" + f.hosts[0]
	for name, test := range map[string]struct {
		env  []string
		file string
		ways int
	}{
		"unconfigured":        {[]string{"DOCKER_HOST=" + engine}, "", 2},
		"of variables":        {[]string{"DOGWATCH_WATCHER_DOCKER_MY-NAS_SOCKET=" + engine}, "", 1},
		"forbidden by one":    {[]string{"DOGWATCH_WATCHER_LOCAL_SOCKET=" + engine, update}, "", 1},
		"of a file":           {nil, "watcher:\n  docker:\n    local:\n      socket: " + engine + "\n", 1},
		"forbidden by a file": {nil, "watcher:\n  docker.local:\n      socket: " + engine + "\n      update: false\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := install(t, append(slices.Clone(test.env), registry)...)
			file := filepath.Join(in.store, "dogwatch.yaml") // the working directory
			if test.file != "" {
				must(t, os.WriteFile(file, []byte(test.file), 0o600))
			}
			d := in.start()
			d.waitFor(1)
			c := d.containers()[0]
			refused := d.planned(c)
			if refused.Code != "forbidden" || len(refused.Paste.Lines) != test.ways ||
				!strings.Contains(refused.Paste.Docs, "/docs/updating.md#") {
				t.Fatalf("refused with %+v", refused)
			}
			for _, path := range []string{"", "/update"} {
				_, page := d.request(http.MethodGet, "/containers/"+c.Watcher+"/"+c.Name+path, "")
				for _, l := range refused.Paste.Lines {
					if !strings.Contains(string(page), strings.ReplaceAll(strings.TrimSpace(l.Text), `"`, "&#34;")) {
						t.Errorf("the page %s lacks %q", path, l.Text)
					}
				}
			}
			at, err := url.Parse(d.url)
			must(t, err)
			cli := *in
			cli.env = append(slices.Clone(cli.env), "DOGWATCH_SERVER_PORT="+at.Port())
			_, said, code := cli.run("update", c.Name, "--yes")
			if code != 3 || !strings.HasSuffix(said, "\nSee "+refused.Paste.Docs+"\n") {
				t.Errorf("exit code %d: %s", code, said)
			}
			for _, l := range refused.Paste.Lines {
				if !strings.Contains(said, "  "+strings.ReplaceAll(strings.TrimSpace(l.Text), "\n", "\n  ")+"\n") {
					t.Errorf("the command lacks %q, and says %s", l.Text, said)
				}
				after := in.pasted(d, file, l)
				if again := after.planned(after.containers()[0]); again.Code == "forbidden" {
					t.Errorf("%q does not allow it: %+v", l.Text, again)
				}
				after.stop()
				must(t, os.WriteFile(file, []byte(test.file), 0o600))
				d = in.start()
				d.waitFor(1)
			}
			d.stop()
		})
	}
}

// pasted does what lines say: Dogwatch starts anew with a variable, or reads its file anew.
func (i *installation) pasted(d *daemon, file string, l config.Lines) *daemon {
	t := d.t
	t.Helper()
	if strings.Contains(l.Where, "dogwatch reload") {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if strings.Contains(l.Where, "in the place of the option there") {
			text = []byte(strings.Replace(string(text), "      update: false\n", "", 1))
		}
		must(t, os.WriteFile(file, append(text, l.Text...), 0o600))
		at, err := url.Parse(d.url)
		must(t, err)
		cli := *i
		cli.env = append(slices.Clone(cli.env), "DOGWATCH_SERVER_PORT="+at.Port())
		if out, said, code := cli.run("reload"); code != 0 {
			t.Fatalf("reload: exit code %d: %s%s", code, out, said)
		}
		return d
	}
	d.stop()
	var compose struct {
		Services map[string]struct{ Environment map[string]string }
	}
	must(t, yaml.Unmarshal([]byte(l.Text), &compose))
	again := *i
	for name, value := range compose.Services["dogwatch"].Environment {
		others := slices.DeleteFunc(slices.Clone(again.env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
		again.env = append(others, name+"="+value)
	}
	started := again.start()
	started.waitFor(1)
	return started
}
