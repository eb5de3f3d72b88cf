package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// unprivileged is a user without rights.
const unprivileged = 65534

// snoop is a plugin that is none: it reads what it can of its host and of the
// other plugins, and writes "pid file: n bytes" to ../seen.
const snoop = `#!/bin/sh
cd "$(dirname "$0")/.."
sleep 2
host=$PPID
for status in /proc/[0-9]*/status; do
	dir=${status%/status}
	pid=${dir#/proc/}
	if [ "$pid" = "$$" ]; then continue; fi
	if [ "$pid" != "$host" ] && ! grep -q "^PPid:[[:space:]]*$host$" "$status" 2>/dev/null; then continue; fi
	for file in environ maps auxv; do
		echo "$pid $file: $(head -c 64 "$dir/$file" 2>/dev/null | wc -c) bytes"
	done
	echo "$pid cmdline: $(head -c 64 "$dir/cmdline" 2>/dev/null | wc -c) bytes"
done >seen.part
mv seen.part seen
exit 1
`

// TestPluginCannotReadOtherProcesses runs Dogwatch and a third-party
// plugin as one user without rights: it cannot read the secrets in the environment or memory
// of the host and of other plugins, and everything works all the same.
func TestPluginCannotReadOtherProcesses(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		plugintest.Skip(t, "root", "only root can become another user")
	}
	f := newFleet(t, 3, registrysim.Options{ETags: true})
	in := install(t,
		append(f.env(), "DOGWATCH_TRIGGER_HTTP_SINK_URL=http://127.0.0.1:1/",
			"DOGWATCH_TRIGGER_HTTP_SINK_AUTH_BEARER=a-secret",
			"DOGWATCH_PLUGINS_ISOLATED=false")...) // where there is less than isolation, too
	in.user = unprivileged
	must(t, os.Mkdir(filepath.Join(in.store, "plugins"), 0o755))
	must(t, os.WriteFile(filepath.Join(in.store, "plugins", "snoop"), []byte(snoop), 0o755))
	for _, path := range []string{in.store, filepath.Dir(strings.TrimPrefix(f.socket, "unix://"))} {
		must(t, filepath.WalkDir(path, func(path string, _ os.DirEntry, err error) error {
			if err == nil {
				err = os.Chown(path, unprivileged, unprivileged)
			}
			return err
		}))
	}
	d := in.start()
	for _, c := range get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch") {
		if c.Error != nil {
			t.Errorf("%s: %s", c.Name, c.Error.Message)
		}
	}
	var seen []byte
	eventually(t, "the plugin has looked around", func() bool {
		var err error
		seen, err = os.ReadFile(filepath.Join(in.store, "seen"))
		return err == nil
	})
	t.Logf("the plugin saw:\n%s", seen)
	pids := map[string]bool{}
	for line := range strings.Lines(string(seen)) {
		what, bytes, _ := strings.Cut(strings.TrimSpace(line), ": ")
		pid, file, _ := strings.Cut(what, " ")
		pids[pid] = true
		if file == "cmdline" && bytes == "0 bytes" {
			t.Errorf("%s: the plugin did not find the process", line)
		}
		if file != "cmdline" && bytes != "0 bytes" {
			t.Errorf("the plugin reads %s", line)
		}
	}
	if len(pids) < 4 {
		t.Errorf("it saw %d processes, want the host and three plugins", len(pids))
	}
	// What the processes tell of themselves needs no right to read them.
	if _, metrics := d.request(http.MethodGet, "/metrics", ""); !strings.Contains(string(metrics), "\nprocess_open_fds ") {
		t.Error("there is no process_open_fds in the metrics")
	}
	for _, p := range get[[]plugin.Status](d, http.MethodGet, "/api/plugins") {
		if p.Builtin && p.State != plugin.Running {
			t.Errorf("%s is %s: %s", p.Name, p.State, p.Error)
		}
	}
	d.stop()
}
