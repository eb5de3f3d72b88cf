package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// hook records the deliveries of HTTP triggers by their paths.
type hook struct {
	*httptest.Server
	mu    sync.Mutex
	calls map[string]int
	// pause is how long each takes.
	pause time.Duration
}

func newHook(t *testing.T) *hook {
	h := &hook{calls: map[string]int{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		pause := h.pause
		h.mu.Unlock()
		time.Sleep(pause)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.calls[r.URL.Path]++
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) count(path string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls[path]
}

// reloading is a fleet of containers whose triggers are in a file that is rewritten.
type reloading struct {
	*fleet
	*daemon
	t    *testing.T
	file string
	hook *hook
}

func newReloading(t *testing.T, containers int, env ...string) *reloading {
	r := &reloading{
		fleet: newFleet(t, containers, registrysim.Options{}), t: t, file: filepath.Join(shortDir(t), "dogwatch.yaml"),
		hook: newHook(t),
	}
	r.write(r.trigger("first"))
	r.daemon = install(t, append(append(r.env(), "DOGWATCH_CONFIG="+r.file), env...)...).start()
	// A check that is requested while one is under way is that one.
	eventually(t, "the end of the first check", func() bool {
		all := fmt.Sprint(get[any](r.daemon, http.MethodGet, "/api/events?limit=100"))
		return len(r.containers()) == containers && strings.Contains(all, "check.finished")
	})
	return r
}

// trigger is the section of a trigger that calls the hook, with further lines.
func (r *reloading) trigger(name string, lines ...string) string {
	return fmt.Sprintf("trigger.http.%s.url: %s/%s\n", name, r.hook.URL, name) + strings.Join(lines, "\n")
}

func (r *reloading) write(sections ...string) {
	r.t.Helper()
	must(r.t, os.WriteFile(r.file, []byte(strings.Join(sections, "\n")), 0o600))
}

func (r *reloading) triggers() (ids []string) {
	type component struct{ ID, State string }
	for _, c := range get[[]component](r.daemon, http.MethodGet, "/api/triggers") {
		ids = append(ids, c.ID)
		if c.State == "failed" {
			r.t.Errorf("%s has failed", c.ID)
		}
	}
	return ids
}

// find pushes a new version of an image and has it checked.
func (r *reloading) find(i int, version string) {
	r.t.Helper()
	r.registry(0).Push(r.repo(i), version)
	if status, body := r.request(http.MethodPost, "/api/containers/watch", ""); status != http.StatusOK {
		r.t.Fatalf("check: %d %s", status, body)
	}
}

func TestReloadAppliesOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	r := newReloading(t, 1)
	r.find(0, "2.0.0")
	eventually(t, "the first trigger is notified", func() bool { return r.hook.count("/first") == 1 })
	type plugin struct {
		Name     string
		PID      int
		Restarts int
	}
	before := get[[]plugin](r.daemon, http.MethodGet, "/api/plugins")

	r.write(r.trigger("first"), r.trigger("second"), "policies.careful.minage: 7d")
	shown := get[reload.Result](r.daemon, http.MethodGet, "/api/reload")
	if !slices.Equal(shown.Added, []string{"trigger.http.second"}) || len(shown.Changed)+len(shown.Removed) > 0 ||
		len(shown.Differences) != 2 || shown.Applied || shown.Restart {
		t.Errorf("the preview: %+v", shown)
	}
	if got := r.triggers(); !slices.Equal(got, []string{"http.first"}) {
		t.Errorf("the preview changed the triggers: %v", got)
	}
	if done := get[reload.Result](r.daemon, http.MethodPost, "/api/reload"); !done.Applied ||
		!slices.Equal(done.Added, shown.Added) {
		t.Errorf("the reload: %+v", done)
	}
	if got := r.triggers(); !slices.Equal(got, []string{"http.first", "http.second"}) {
		t.Errorf("triggers: %v", got)
	}
	if after := get[[]plugin](r.daemon, http.MethodGet, "/api/plugins"); !slices.Equal(after, before) {
		t.Errorf("plugins were restarted: %v, then %v", before, after)
	}
	r.find(0, "3.0.0")
	eventually(t, "both are notified", func() bool { return r.hook.count("/first") == 2 && r.hook.count("/second") == 1 })

	// A signal does the same.
	r.write(r.trigger("second"))
	must(t, r.cmd.Process.Signal(syscall.SIGHUP))
	eventually(t, "the first is removed", func() bool { return slices.Equal(r.triggers(), []string{"http.second"}) })
	r.find(0, "4.0.0")
	eventually(t, "the second is notified", func() bool { return r.hook.count("/second") == 2 })
	if n := r.hook.count("/first"); n != 2 {
		t.Errorf("a removed trigger was notified %d times, want 2", n)
	}
	if events := fmt.Sprint(get[any](r.daemon, http.MethodGet, "/api/events?limit=50")); !strings.Contains(events,
		"SIGHUP") || !strings.Contains(events, "added trigger.http.second") {
		t.Errorf("who reloaded what is not recorded: %s", events)
	}
	r.stop()
}

func TestReloadOfMistakesChangesNothing(t *testing.T) {
	t.Parallel()
	r := newReloading(t, 1)
	for about, c := range map[string]struct{ file, want string }{
		"no YAML":           {"trigger: [", "dogwatch.yaml"},
		"an unknown type":   {r.trigger("first") + "\ntrigger.htpp.x.url: http://127.0.0.1", "did you mean http?"},
		"a missing option":  {"trigger.http.first.method: GET", "trigger.http.first.url"},
		"an unknown policy": {r.trigger("first") + "\nwatcher.docker.other.policy: careful", "careful"},
		"a wrong window":    {r.trigger("first") + "\npolicy.window: whenever", "policy.window"},
		"a wrong template": {r.trigger("first", "trigger.http.first.simpletitle: \"${\""),
			"trigger.http.first.simpletitle"},
		"a setting": {r.trigger("first") + "\ncheck.perhost: many", "check.perhost"},
		"two of a name": {r.trigger("first") +
			"\nwatcher.docker.local.cron: never\nwatcher.podman.local.cron: 0 0 1 1 *", "local"},
		"a secret as a list": {r.trigger("first", "trigger.http.first.auth.password: [a, b]"),
			"trigger.http.first.auth.password"},
	} {
		r.write(c.file)
		shown := get[reload.Result](r.daemon, http.MethodGet, "/api/reload")
		if text := strings.Join(shown.Errors, "\n"); !strings.Contains(text, c.want) {
			t.Errorf("%s: the preview says %q, want %q", about, text, c.want)
		}
		status, body := r.request(http.MethodPost, "/api/reload", "")
		if status != http.StatusUnprocessableEntity || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: %d %s", about, status, body)
		}
	}
	if got := r.triggers(); !slices.Equal(got, []string{"http.first"}) {
		t.Errorf("triggers: %v", got)
	}
	r.find(0, "2.0.0")
	eventually(t, "the trigger is notified", func() bool { return r.hook.count("/first") == 1 })
}

// TestReloadOfSettingsRestartsWithinTheProcess: what cannot be changed while it runs is
// read by a new start, without another process.
func TestReloadOfSettingsRestartsWithinTheProcess(t *testing.T) {
	t.Parallel()
	r := newReloading(t, 1)
	r.write(r.trigger("first"), "check.perhost: 3")
	if done := get[reload.Result](r.daemon, http.MethodPost, "/api/reload"); !done.Applied || !done.Restart {
		t.Fatalf("the reload: %+v", done)
	}
	r.listens()
	r.find(0, "2.0.0")
	eventually(t, "the trigger is notified", func() bool { return r.hook.count("/first") == 1 })
	// A setting with which it cannot start leaves it as it was.
	occupied := filepath.Join(filepath.Dir(r.file), "occupied")
	must(t, os.Mkdir(occupied, 0o755))
	r.write(r.trigger("first"), "check.perhost: 3", "server.tls: {enabled: true, key: "+occupied+", cert: "+occupied+"}")
	if status, body := r.request(http.MethodPost, "/api/reload", ""); status == http.StatusOK {
		r.listens()
	} else if status != http.StatusUnprocessableEntity {
		t.Fatalf("a certificate that cannot be read: %d %s", status, body)
	}
	r.find(0, "3.0.0")
	eventually(t, "the trigger is notified again", func() bool { return r.hook.count("/first") == 2 })
	r.stop()
}

// TestReloadLosesNoDelivery reloads again and again while updates are found and delivered:
// each is delivered exactly once.
func TestReloadLosesNoDelivery(t *testing.T) {
	t.Parallel()
	const containers, rounds = 5, 12
	r := newReloading(t, containers)
	r.hook.mu.Lock()
	r.hook.pause = 30 * time.Millisecond
	r.hook.mu.Unlock()
	for round := range rounds {
		for i := range containers {
			r.registry(0).Push(r.repo(i), fmt.Sprintf("%d.0.0", round+2))
		}
		checked := make(chan int, 1)
		go func() {
			status, _ := r.request(http.MethodPost, "/api/containers/watch", "")
			checked <- status
		}()
		// The trigger that is counted changes each time, another comes and goes.
		sections := []string{r.trigger("first", fmt.Sprintf("trigger.http.first.simpletitle: round %d", round))}
		if round%2 == 0 {
			sections = append(sections, r.trigger("other", "trigger.http.other.auto: false"))
		}
		r.write(sections...)
		if done := get[reload.Result](r.daemon, http.MethodPost, "/api/reload"); !done.Applied {
			t.Fatalf("round %d: %+v", round, done)
		}
		if status := <-checked; status != http.StatusOK {
			t.Fatalf("round %d: check %d", round, status)
		}
		want := (round + 1) * containers
		eventually(t, fmt.Sprintf("%d deliveries", want), func() bool { return r.hook.count("/first") >= want })
	}
	time.Sleep(300 * time.Millisecond) // for what would be one too many
	if got := r.hook.count("/first"); got != containers*rounds {
		t.Errorf("%d deliveries, want %d", got, containers*rounds)
	}
	r.stop()
}

// TestPluginFolderIsFollowed: the component of a plugin that is not there yet works as
// soon as its file is, and stops when the file goes.
func TestPluginFolderIsFollowed(t *testing.T) {
	t.Parallel()
	plugins, lines := shortDir(t), filepath.Join(openDir(t), "lines")
	r := newReloading(t, 1, "DOGWATCH_PLUGINS_DIR="+plugins, "DOGWATCH_TRIGGER_FILE_MAIN_PATH="+lines)
	state := func() string {
		type component struct{ ID, State string }
		for _, c := range get[[]component](r.daemon, http.MethodGet, "/api/triggers") {
			if c.ID == "file.main" {
				return c.State
			}
		}
		return ""
	}
	eventually(t, "its type is not known", func() bool { return state() == "failed" })
	compiled, err := build(filepath.Join("..", "..", "examples", "trigger-file"), "trigger-file")
	must(t, err)
	copyFile(t, compiled, filepath.Join(plugins, "trigger-file"))
	eventually(t, "it is ready", func() bool { return state() == "ready" })
	r.find(0, "2.0.0")
	eventually(t, "it is notified", func() bool { text, err := os.ReadFile(lines); return err == nil && len(text) > 0 })
	must(t, os.Remove(filepath.Join(plugins, "trigger-file")))
	eventually(t, "its type is gone", func() bool { return state() == "failed" })
	if body, _ := json.Marshal(get[any](r.daemon, http.MethodGet,
		"/api/triggers/file/main")); !strings.Contains(string(body), "unknown trigger type") {
		t.Errorf("it does not say why: %s", body)
	}
	r.stop()
}
