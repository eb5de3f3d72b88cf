package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin"
)

// putHanging puts a file into a folder that is started and never shakes hands. Its name
// comes first.
func putHanging(t testing.TB, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "aaa")
	must(t, os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 600\n"), 0o755))
	return path
}

// stateOf returns the state of a plugin.
func (d *daemon) stateOf(name string) plugin.State {
	d.t.Helper()
	for _, p := range get[[]plugin.Status](d, http.MethodGet, "/api/plugins") {
		if p.Name == name {
			return p.State
		}
	}
	return ""
}

// TestHangingPluginHoldsUpNoOther: a file that never shakes hands, whether Dogwatch knows the
// others or sees them for the first time, and whether something of it is configured or not.
func TestHangingPluginHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]string{
		"not configured": nil,
		"configured":     {"DOGWATCH_TRIGGER_LAMP_MAIN_URL=http://lamp.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := shortDir(t)
			in := install(t, append(putMany(t, folder, 2), more...)...)
			putHanging(t, folder)
			for _, start := range []string{"first", "second"} {
				d := in.start()
				d.untilReady(2)
				if state := d.stateOf("aaa"); state != plugin.Starting {
					t.Errorf("%s start: the others are ready, and aaa is %s by then", start, state)
				}
				d.stop()
			}
		})
	}
}

// TestCommandsDoNotWaitForAHangingPlugin: they tell of the others some two seconds later at most
// than without it; what hangs is given up after ten.
func TestCommandsDoNotWaitForAHangingPlugin(t *testing.T) {
	t.Parallel()
	folder := shortDir(t)
	in := install(t, putMany(t, folder, 2)...)
	commands := map[string]struct {
		args []string
		want []string // with the file that hangs
	}{
		"list": {[]string{"plugin", "list"},
			[]string{"trigger.many0", "trigger.many1", "aaa", "starting", "plugin verify " + filepath.Join(folder, "aaa")}},
		"validate": {[]string{"config", "validate"}, []string{"no problems"}},
		"test":     {[]string{"plugin", "test", "trigger.many1.main"}, []string{"works"}},
		"describe": {[]string{"plugin", "describe", "trigger.many0"}, []string{"Does nothing"}},
	}
	timed := func(args []string, limit time.Duration) (said string, code int, took time.Duration) {
		for range 3 { // a busy machine holds up a run now and then, a plugin that is waited for each
			began := time.Now()
			stdout, stderr, exited := in.run(args...)
			said, code, took = stdout+stderr, exited, time.Since(began)
			if took <= limit {
				break
			}
		}
		return said, code, took
	}
	_, err := built()
	must(t, err)
	limits := map[string]time.Duration{}
	for name, c := range commands {
		said, code, took := timed(c.args, time.Hour)
		if code != 0 {
			t.Fatalf("%s: %d: %s", name, code, said)
		}
		limits[name] = 2*took + 2*time.Second
	}
	putHanging(t, folder)
	for name, c := range commands {
		said, code, took := timed(c.args, limits[name])
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s does not say %q: %s", name, want, said)
			}
		}
		if code != 0 || took > limits[name] {
			t.Errorf("%s: %d after %s, want %s at most", name, code, took, limits[name])
		}
	}
	in.env = append(in.env, "DOGWATCH_TRIGGER_MANY0_MAIN_COLOR=red",
		"DOGWATCH_TRIGGER_LAMP_MAIN_URL=http://lamp.example.com")
	said, code, took := timed(commands["test"].args, limits["test"])
	if code != 0 || took > limits["test"] {
		t.Errorf("with a component that may be of the file that hangs: %d after %s: %s", code, took, said)
	}
	said, _, _ = timed(commands["validate"].args, time.Hour)
	for _, want := range []string{"waiting for the plugins of trigger.lamp.main; not usable in " + folder, "aaa is ",
		"color", `unknown trigger type "lamp"`} {
		if !strings.Contains(said, want) {
			t.Errorf("validate does not say %q: %s", want, said)
		}
	}
	if strings.Index(said, "color") > strings.Index(said, `unknown trigger type "lamp"`) {
		t.Errorf("validate does not begin with what it knows: %s", said)
	}
	said, _, _ = timed([]string{"doctor", "--timeout", "3s"}, time.Hour)
	for _, want := range []string{"plugin aaa", "plugin many0", "may run, and holds 1 type", "trigger.many1.main",
		"watcher.docker.local", "store"} {
		if !strings.Contains(said, want) {
			t.Errorf("doctor does not say %q: %s", want, said)
		}
	}
}
