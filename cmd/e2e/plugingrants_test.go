package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPluginGrants: what a plugin asks for is granted at its installation, and taken away
// and granted again while Dogwatch serves; without being granted it is held back.
func TestPluginGrants(t *testing.T) {
	t.Parallel()
	compiled, err := actsPlugin()
	must(t, err)
	i := install(t, "DOGWATCH_TRIGGER_ACTS_MAIN_NOTE=x", "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET=/nowhere")
	says := func(want string, code int, args ...string) {
		t.Helper()
		stdout, stderr, got := i.run(append([]string{"plugin"}, args...)...)
		if text := stdout + stderr; got != code || !strings.Contains(text, want) {
			t.Fatalf("%v: %d, want %d and %q: %s", args, got, code, want, text)
		}
	}
	says("did you mean engine?", 2, "install", compiled, "--name", "acts", "--yes", "--grant", "engin")
	says("acts does not ask for the capability run, and is not installed (it asks for engine)", 2, "install", compiled,
		"--name", "acts", "--yes", "--grant", "run")
	says("not granted    engine: to grant it, run dogwatch plugin grants acts --grant engine", 0, "install", compiled,
		"--name", "acts", "--yes")
	says("acts is granted engine", 0, "install", compiled, "--name", "acts", "--yes", "--grant", "engine")
	says("acts  engine    engine", 0, "grants")

	d := i.start()
	defer d.stop()
	has := func(want bool) {
		t.Helper()
		began := time.Now()
		eventually(t, "what is granted is noticed", func() bool {
			for _, p := range get[[]struct {
				Name, State string
				Grants      []string
			}](d, http.MethodGet, "/api/plugins") {
				if p.Name == "acts" {
					return p.State == "running" && slices.Contains(p.Grants, "engine") == want
				}
			}
			return false
		})
		eventually(t, "the trigger says so", func() bool {
			warned := strings.Contains(strings.Join(get[struct{ Warnings []string }](d, http.MethodGet,
				"/api/triggers/acts/main").Warnings, " "), `asks for the capability "engine"`)
			return warned != want
		})
		t.Logf("granted %v after %s", want, time.Since(began))
	}
	has(true)
	says("acts is granted nothing", 0, "grants", "acts", "--revoke", "engine")
	has(false)
	says("acts is granted engine", 0, "grants", "acts", "--grant", "engine")
	has(true)
	grant := func(body string, want int) {
		t.Helper()
		if status, text := d.request(http.MethodPost, "/api/plugins/acts/grant", body); status != want {
			t.Fatalf("%s: %d, want %d: %s", body, status, want, text)
		}
	}
	grant(`{"capability": "engine", "granted": false}`, http.StatusAccepted)
	has(false)
	grant(`{"capability": "engine", "granted": true}`, http.StatusAccepted)
	has(true)
	grant(`{"capability": "run", "granted": true}`, http.StatusConflict)
	var recorded []string
	for _, e := range get[[]struct {
		Type, Subject string
		Setting       struct{ To string }
	}](d, http.MethodGet, "/api/events") {
		if e.Type == "setting.changed" {
			recorded = append(recorded, e.Subject+" "+e.Setting.To)
		}
	}
	// newest first
	if want := []string{"plugin acts: engine granted", "plugin acts: engine not granted"}; !slices.Equal(recorded, want) {
		t.Errorf("recorded %q, want %q", recorded, want)
	}
	says("removed acts", 0, "remove", "acts")
	says("no plugin was installed", 0, "grants")
}
