package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/dogwatch/dogwatch/core/plugin"
)

// TestTypeStaysWithItsPlugin: an unsigned file whose name comes first does not get the
// type of a signed one, nor its options and messages, over restarts.
func TestTypeStaysWithItsPlugin(t *testing.T) {
	t.Parallel()
	host := startRegistry(t, "")
	key, _ := newKey(t)
	out := openDir(t)
	i := install(t, "DOGWATCH_REGISTRY_CUSTOM_HOME_URL=http://"+host, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET=/nowhere",
		"DOGWATCH_TRIGGER_FILE_MAIN_PATH="+filepath.Join(out, "lines"))
	p := publisher{i, host + "/me/trigger-file"}
	p.publish(t, "1.0.0", key)
	says := func(want string, code int, args ...string) {
		t.Helper()
		if stdout, stderr, got := i.run(args...); got != code || !strings.Contains(stdout+stderr, want) {
			t.Fatalf("%v: %d, want %d and %q: %s%s", args, got, code, want, stdout, stderr)
		}
	}
	says("installed trigger-file", 0, "plugin", "install", p.repo+":1.0.0", "--yes")
	intruder := filepath.Join(out, "aaa")
	compiled, err := filePlugin()
	must(t, err)
	program, err := os.ReadFile(compiled)
	must(t, err)
	must(t, os.WriteFile(intruder, append(program, "intruder"...), 0o755))
	says("trigger.file, which is held by trigger-file (signed by minisign ", 1, "plugin", "install", intruder, "--yes")
	says("held by trigger-file (signed by minisign ", 0, "plugin", "verify", intruder, "--set",
		"path="+filepath.Join(out, "tried"))

	must(t, os.WriteFile(filepath.Join(i.store, "plugins", "aaa"), append(program, "intruder"...), 0o755))
	for range 2 {
		d := i.start()
		d.pluginIs("trigger-file", "running")
		d.pluginIs("aaa", "rejected")
		eventually(t, "the trigger is ready", func() bool {
			return get[struct{ State string }](d, http.MethodGet, "/api/triggers/file/main").State == "ready"
		})
		for _, st := range get[[]plugin.Status](d, http.MethodGet, "/api/plugins") {
			named := strings.Contains(st.Error, "aaa (not signed)") &&
				strings.Contains(st.Error, "trigger-file (signed by minisign ")
			if st.Name == "aaa" && (st.PID != 0 || st.HeldBy != "trigger-file" || !named) {
				t.Errorf("the file that came later: %+v", st)
			}
		}
		d.stop()
	}

	// When the one that holds the type goes, the other is judged again at once.
	d := i.start()
	d.pluginIs("aaa", "rejected")
	says("removed trigger-file", 0, "plugin", "remove", "trigger-file")
	d.pluginIs("aaa", "running")
	d.stop()
}

// TestReplayedVersionIsRefused: an old artifact, signed as it is, under a newer tag.
func TestReplayedVersionIsRefused(t *testing.T) {
	t.Parallel()
	host := startRegistry(t, "")
	key, _ := newKey(t)
	i := install(t, "DOGWATCH_REGISTRY_CUSTOM_HOME_URL=http://"+host)
	p := publisher{i, host + "/me/trigger-file"}
	p.publish(t, "1.0.0", key)
	p.publish(t, "2.0.0", key)
	says := func(want string, code int, args ...string) {
		t.Helper()
		if stdout, stderr, got := i.run(args...); got != code || !strings.Contains(stdout+stderr, want) {
			t.Fatalf("%v: %d, want %d and %q: %s%s", args, got, code, want, stdout, stderr)
		}
	}
	says("installed trigger-file", 0, "plugin", "install", p.repo+":2.0.0", "--yes")
	old, err := name.NewTag(p.repo+":1.0.0", name.Insecure)
	must(t, err)
	desc, err := remote.Get(old)
	must(t, err)
	replayed, err := name.NewTag(p.repo+":3.0.0", name.Insecure)
	must(t, err)
	must(t, remote.Tag(replayed, desc))
	const refused = "the tag says version 3.0.0, and the plugin is version 1.0.0"
	says(refused, 1, "plugin", "install", p.repo+":3.0.0", "--yes")
	says("trigger-file: passed over: "+p.repo+":3.0.0: "+refused, 0, "plugin", "outdated")
	says(refused, 1, "plugin", "update", "trigger-file", "--yes")
	says("is not newer than 2.0.0", 1, "plugin", "install", p.repo+":1.0.0", "--yes")
	says("installed trigger-file", 0, "plugin", "install", p.repo+":1.0.0", "--yes", "--allow-downgrade")
	says("3.0.0: "+refused, 0, "plugin", "outdated")
	says(p.repo+":2.0.0", 0, "plugin", "outdated")
	says("nobody could install it from there", 1, "plugin", "package", filepath.Join(i.store, "plugins", "trigger-file"),
		"--version", "1.0.0", "--push", p.repo+":4.0.0")
}
