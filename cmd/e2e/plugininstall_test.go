package e2e

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// publisher makes artifacts of the example plugin in a registry with a login.
type publisher struct {
	i    *installation
	repo string
}

// newKey writes a private key of minisign to a file, and returns it and the public key.
func newKey(t *testing.T) (file, public string) {
	t.Helper()
	p, private, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	text, err := private.MarshalText()
	must(t, err)
	file = filepath.Join(t.TempDir(), "minisign.key")
	must(t, os.WriteFile(file, text, 0o600))
	return file, p.String()
}

// publish pushes a version that is signed by a key, and differs from all others.
func (p publisher) publish(t *testing.T, version, key string) {
	t.Helper()
	compiled, err := filePlugin()
	must(t, err)
	program, err := os.ReadFile(compiled)
	must(t, err)
	file := filepath.Join(t.TempDir(), "trigger-file")
	must(t, os.WriteFile(file, append(program, version...), 0o755))
	if _, stderr, code := p.i.run("plugin", "package", file, "--version", version, "--push", p.repo+":"+version,
		"--sign", key); code != 0 {
		t.Fatalf("package %s: %d: %s", version, code, stderr)
	}
}

// lockedPassword is that of the user ann in a registry with a login.
const lockedPassword = "recognisable-s3cret"

// startLockedRegistry starts a real registry that only ann may use, and returns its host.
func startLockedRegistry(t *testing.T) string {
	t.Helper()
	htpasswd := filepath.Join(t.TempDir(), "htpasswd")
	must(t, os.WriteFile(htpasswd, []byte("ann:$2y$05$TOiSsp6h8S6T0RPFrkx5eu/pzLMuqxAs1gkd..v3BvHYHoWyWDtxK\n"), 0o600))
	return startRegistry(t, fmt.Sprintf("auth: {htpasswd: {realm: test, path: %q}}", htpasswd))
}

// TestPluginsComeFromARegistry starts with an empty folder: what plugins.install names is
// fetched from a real registry with a login, runs, is updated, taken back, and stays when
// the next version is signed by another key.
func TestPluginsComeFromARegistry(t *testing.T) {
	t.Parallel()
	const password = lockedPassword
	host := startLockedRegistry(t)
	key, public := newKey(t)
	stranger, _ := newKey(t)
	config := filepath.Join(t.TempDir(), "dogwatch.yaml")
	i := install(t, "DOGWATCH_CONFIG="+config)
	lines := filepath.Join(i.store, "updates.log")
	declare := func(version string) {
		t.Helper()
		must(t, os.WriteFile(config, fmt.Appendf(nil, `
plugins:
  install:
    - { name: trigger-file, ref: "%s/me/trigger-file:%s", key: %s }
watcher: { docker: { local: { socket: /nowhere, watchevents: false } } }
registry: { custom: { home: { url: "http://%s", login: ann, password: %s } } }
trigger: { file: { main: { path: %q } } }
`, host, version, public, host, password, lines), 0o600))
	}
	declare("1.0.0")
	p := publisher{i, host + "/me/trigger-file"}
	p.publish(t, "1.0.0", key)
	p.publish(t, "2.0.0", key)
	t.Run("by commands", func(t *testing.T) { updateByCommands(t, p, stranger, host, password) })

	runs := func(d *daemon, version string) {
		t.Helper()
		d.pluginIs("trigger-file", "running")
		program, err := os.ReadFile(filepath.Join(i.store, "plugins", "trigger-file"))
		if err != nil || !strings.HasSuffix(string(program), version) {
			t.Fatalf("plugins/trigger-file is not version %s (%v)", version, err)
		}
	}
	d := i.start()
	runs(d, "1.0.0")
	eventually(t, "the trigger is ready", func() bool {
		return get[struct{ State string }](d, http.MethodGet, "/api/triggers/file/main").State == "ready"
	})
	d.stop()

	declare("2.0.0")
	d = i.start()
	runs(d, "2.0.0")
	if stdout, stderr, code := i.run("plugin", "rollback", "trigger-file"); code != 0 ||
		!strings.Contains(stdout, "trigger-file is 1.0.0 again") {
		t.Fatalf("rollback: %d: %s%s", code, stdout, stderr)
	}
	runs(d, "1.0.0")
	d.stop()

	declare("3.0.0")
	d = i.start()
	runs(d, "1.0.0")
	d.mu.Lock()
	log := d.log.String()
	d.mu.Unlock()
	if !strings.Contains(log, "trigger-file is not installed as it says") ||
		!strings.Contains(log, "it is signed by another key") {
		t.Error("the log does not say that the signature is by another key")
	}
	if strings.Contains(log, password) {
		t.Error("the log shows the password")
	}
	d.stop()
	if found, err := filepath.Glob(filepath.Join(i.store, "plugins", ".install", "*")); err != nil || len(found) > 0 {
		t.Errorf("left over: %v, %v", found, err)
	}
}

// updateByCommands installs 1.0.0, updates it to 2.0.0, and refuses 3.0.0, which it
// publishes with another key.
func updateByCommands(t *testing.T, p publisher, stranger, host, password string) {
	i := install(t, "DOGWATCH_REGISTRY_CUSTOM_HOME_URL=http://"+host, "DOGWATCH_REGISTRY_CUSTOM_HOME_LOGIN=ann",
		"DOGWATCH_REGISTRY_CUSTOM_HOME_PASSWORD="+password)
	says := func(want string, code int, args ...string) {
		t.Helper()
		stdout, stderr, got := i.run(args...)
		if text := stdout + stderr; got != code || !strings.Contains(text, want) || strings.Contains(text, password) {
			t.Fatalf("%v: %d, want %d and %q: %s", args, got, code, want, text)
		}
	}
	says("which came with the plugin and is seen for the first time", 0, "plugin", "install", p.repo+":1.0.0", "--yes")
	says(p.repo+":2.0.0", 0, "plugin", "outdated")
	says("that was remembered", 0, "plugin", "update", "--all", "--yes")
	says("nothing to update", 0, "plugin", "update", "trigger-file")
	p.publish(t, "3.0.0", stranger)
	says("it is signed by another key", 1, "plugin", "update", "trigger-file", "--yes")
	says("2.0.0", 0, "plugin", "outdated")
	says("trigger-file is 1.0.0 again", 0, "plugin", "rollback", "trigger-file")
	says("removed trigger-file", 0, "plugin", "remove", "trigger-file")
	says("no plugin was installed", 0, "plugin", "outdated")
}
