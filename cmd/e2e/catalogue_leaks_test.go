package e2e

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries"
	"github.com/dogwatch/dogwatch/plugins/triggers"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// run runs a command of the program and returns what it says.
func (i *installation) run(args ...string) (stdout, stderr string, code int) {
	i.t.Helper()
	path, err := built()
	must(i.t, err)
	cmd := exec.CommandContext(i.t.Context(), path, args...)
	cmd.Env, cmd.Dir = i.env, i.store
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		i.t.Fatal(err)
	}
	return out.String(), problems.String(), cmd.ProcessState.ExitCode()
}

// tried: `plugin test` works for every component, or for one of each kind. It returns what is said.
func (c *catalogue) tried(t *testing.T, in *installation, every bool) string {
	t.Helper()
	var all [][]string
	for _, v := range c.vendors {
		all = append(all, []string{"registry." + v.typ + ".main", v.image("1.0.0")})
	}
	for _, s := range c.services {
		all = append(all, []string{"trigger." + s.typ + ".main"})
	}
	all = append(all, []string{"watcher.docker.main"})
	if !every {
		all = [][]string{all[0], all[len(all)-2], all[len(all)-1]}
	}
	var mu sync.Mutex
	var said strings.Builder
	var running sync.WaitGroup
	places := make(chan struct{}, 3)
	for _, args := range all {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			stdout, stderr, code := in.run(append([]string{"plugin", "test"}, args...)...)
			if code != 0 || !strings.Contains(stdout, args[0]+" works") ||
				len(args) == 2 && !strings.Contains(stdout, args[1]+" is sha256:") {
				t.Errorf("plugin test %s: %d %s%s", args[0], code, stdout, stderr)
			}
			mu.Lock()
			defer mu.Unlock()
			said.WriteString(stdout + stderr)
		})
	}
	running.Wait()
	for _, s := range c.services {
		if every && s.typ != "mock" { // it speaks to the log of the command
			c.awaitSamples(t, s, 2) // the first was asked for through the API
		}
	}
	return said.String()
}

// sweep returns every answer of the API.
func (c *catalogue) sweep(t *testing.T, d *daemon) string {
	t.Helper()
	paths := []string{
		"/health", "/metrics", "/api/app", "/api/server", "/api/log", "/api/store", "/api/health", "/api/ready",
		"/api/plugins", "/api/events?limit=1000", "/api/deliveries",
		"/api/types/watcher", "/api/types/registry", "/api/types/trigger", "/api/containers", "/api/watchers",
		"/api/registries", "/api/triggers", "/api/authentications", "/auth/strategies", "/auth/user",
	}
	for _, got := range d.containers() {
		paths = append(paths, "/api/containers/"+got.ID, "/api/containers/"+got.ID+"/explain",
			"/api/containers/"+got.ID+"/triggers")
	}
	for _, s := range c.sections() {
		paths = append(paths, s.path())
	}
	var said strings.Builder
	for _, path := range paths {
		status, body := d.request(http.MethodGet, path, "")
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
		text := string(body)
		for _, s := range c.sections() { // the two that clients get as they are stored
			for id, key := range map[string]string{"trigger.smtp.main": "pass", "registry.hub.main": "auth"} {
				if stored := fmt.Sprintf("%q:%q", key, s.options[key]); s.id() == id &&
					(strings.HasPrefix(path, "/api/triggers") || strings.HasPrefix(path, "/api/registries") ||
						strings.HasSuffix(path, "/triggers")) {
					text = strings.ReplaceAll(text, stored, "")
				}
			}
		}
		said.WriteString(path + "\n" + text + "\n")
	}
	return said.String()
}

// secrets are the values of every option that is one, and the ways they travel.
func (c *catalogue) secrets() []string {
	all := []string{marker, awsKey, "czNjcmV0LWdvb2dsZS1rZXk"}
	types := map[string]kind.Type{}
	for _, typ := range registries.Types() {
		types[string(kind.Registry)+typ.Name] = typ.Type
	}
	for _, typ := range triggers.Types() {
		types[string(kind.Trigger)+typ.Name] = typ.Type
	}
	for _, s := range c.sections() {
		for key, value := range s.options {
			if o, _ := types[string(s.kind)+s.typ].Options.Find(key); o.Secret && value != "" {
				all = append(all, value, url.QueryEscape(value), base64.StdEncoding.EncodeToString([]byte(value)))
			}
		}
	}
	for _, v := range c.vendors {
		if v.password != "" {
			all = append(all, base64.StdEncoding.EncodeToString([]byte(v.user+":"+v.password)))
		}
	}
	return all
}

// nothingLeaks looks for every secret in what was said and in what was stored.
func (c *catalogue) nothingLeaks(t *testing.T, in *installation, said string) {
	t.Helper()
	stored, err := os.ReadDir(in.store)
	must(t, err)
	for _, entry := range stored {
		if entry.Type().IsRegular() {
			body, err := os.ReadFile(filepath.Join(in.store, entry.Name()))
			must(t, err)
			said += string(body)
		}
	}
	if !strings.Contains(said, "hooks.example.com") || !strings.Contains(said, "/api/plugins") ||
		!strings.Contains(said, "SQLite format") {
		t.Error("what was said is not all here")
	}
	for _, secret := range c.secrets() {
		for _, at := range regexp.MustCompile(regexp.QuoteMeta(secret)).FindAllStringIndex(said, 3) {
			t.Errorf("%q is told: …%s…", secret, said[max(at[0]-120, 0):min(at[1]+40, len(said))])
		}
	}
}
