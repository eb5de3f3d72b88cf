package packaging_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// registryAt has a Dogwatch look for what is at ghcr.io in a registry of this machine, where a release pushes it, too.
func registryAt(host string) []string {
	return []string{"DOGWATCH_REGISTRY_GHCR_PUBLIC_MIRROR=http://" + host, "PLUGINS=ghcr.io/dogwatch"}
}

// galleryUse is what a plugin of the gallery is run with: its settings, one command, and what that says.
type galleryUse struct {
	env  []string
	test []string
	want string
}

// galleryUses are those of all plugins of the gallery.
func galleryUses(t *testing.T) map[string]galleryUse {
	dir, err := os.MkdirTemp("", "gallery")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil { // plugins run as users of their own
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"images.txt": "vendor.example.com/team/app:1.0.0\n",
		"systemctl":  "#!/bin/sh\necho LoadState=loaded\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(serveGallery))
	t.Cleanup(server.Close)
	return map[string]galleryUse{
		"watcher-list": {[]string{"DOGWATCH_WATCHER_LIST_MAIN_FILE=" + filepath.Join(dir, "images.txt")},
			[]string{"watcher.list.main"}, "vendor.example.com/team/app"},
		"registry-releases": {[]string{"DOGWATCH_REGISTRY_RELEASES_MAIN_HOST=releases.example",
			"DOGWATCH_REGISTRY_RELEASES_MAIN_FORMAT=gitea", "DOGWATCH_REGISTRY_RELEASES_MAIN_URL=" + server.URL},
			[]string{"registry.releases.main", "releases.example/ana/lamp:v1.0.0"}, "sha256:"},
		"trigger-atom": {[]string{"DOGWATCH_TRIGGER_ATOM_MAIN_PATH=" + filepath.Join(dir, "updates.atom")},
			[]string{"trigger.atom.main"}, ".main works"},
		"trigger-audit": {[]string{"DOGWATCH_TRIGGER_AUDIT_MAIN_PATH=" + filepath.Join(dir, "audit.jsonl")},
			[]string{"trigger.audit.main"}, ".main works"},
		"trigger-file": {[]string{"DOGWATCH_TRIGGER_FILE_MAIN_PATH=" + filepath.Join(dir, "lines")},
			[]string{"trigger.file.main"}, ".main works"},
		"trigger-gitea": {[]string{"DOGWATCH_TRIGGER_GITEA_MAIN_URL=" + server.URL,
			"DOGWATCH_TRIGGER_GITEA_MAIN_REPOSITORY=ana/homelab", "DOGWATCH_TRIGGER_GITEA_MAIN_TOKEN=secret",
			"DOGWATCH_TRIGGER_GITEA_MAIN_FILES=compose.yaml"},
			[]string{"trigger.gitea.main"}, ".main works"},
		"trigger-portainer": {[]string{"DOGWATCH_TRIGGER_PORTAINER_MAIN_URL=" + server.URL,
			"DOGWATCH_TRIGGER_PORTAINER_MAIN_APIKEY=secret"},
			[]string{"trigger.portainer.main"}, ".main works"},
		"trigger-signal": {[]string{"DOGWATCH_TRIGGER_SIGNAL_MAIN_URL=" + server.URL,
			"DOGWATCH_TRIGGER_SIGNAL_MAIN_NUMBER=+431212131491291", "DOGWATCH_TRIGGER_SIGNAL_MAIN_RECIPIENTS=+4354546464654"},
			[]string{"trigger.signal.main"}, ".main works"},
		"trigger-systemd": {[]string{"DOGWATCH_TRIGGER_SYSTEMD_MAIN_UNITS=web=web.service",
			"DOGWATCH_TRIGGER_SYSTEMD_MAIN_SYSTEMCTL=" + filepath.Join(dir, "systemctl")},
			[]string{"trigger.systemd.main"}, ".main works"},
	}
}

// serveGallery responds as the services do that plugins of the gallery ask.
func serveGallery(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case path == "/api/stacks":
		fmt.Fprint(w, `[{"Id": 1, "Name": "media", "Type": 2, "EndpointId": 1, "Status": 1}]`)
	case path == "/v1/accounts":
		fmt.Fprint(w, `["+431212131491291"]`)
	case path == "/v2/send":
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"timestamp": "1767323045000"}`)
	case strings.HasSuffix(path, "/releases"):
		fmt.Fprint(w, `[{"tag_name": "v1.0.0", "published_at": "2026-01-02T03:04:05Z"}]`)
	case strings.Contains(path, "/contents/"):
		fmt.Fprintf(w, `{"content": %q, "sha": "ab"}`, base64.StdEncoding.EncodeToString([]byte("services: {}\n")))
	default:
		fmt.Fprint(w, `{"full_name": "ana/homelab", "default_branch": "main"}`)
	}
}

// stranger is the machine of a user who has the program of a release alone.
type stranger struct {
	program, store string
	env            []string
}

func newStranger(t *testing.T, c checkout, host string) stranger {
	t.Helper()
	s := stranger{program: c.path("dist/linux_linux_amd64_v1/dogwatch"), store: t.TempDir()}
	s.env = append(os.Environ(), append(registryAt(host), "DOGWATCH_STORE_PATH="+s.store, "HOME="+s.store)...)
	return s
}

// says runs a command, which exits with a code and says what is wanted.
func (s stranger) says(t *testing.T, want string, code int, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.program, args...)
	cmd.Dir, cmd.Env = s.store, s.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code || !strings.Contains(string(out), want) {
		t.Fatalf("%q: want %d and %q, got %v\n%s", args, code, want, err, out)
	}
	return string(out)
}

// testGallery has a stranger search, install, verify, run, update and roll back each plugin of the gallery, from the
// registry that the release has pushed them to.
func testGallery(t *testing.T, c checkout, host string) {
	uses := galleryUses(t)
	s := newStranger(t, c, host)
	for _, use := range uses {
		s.env = append(s.env, use.env...)
	}
	var all []struct{ Name, Reference string }
	if err := json.Unmarshal([]byte(s.says(t, "", 0, "plugin", "search", "--json")), &all); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		use, known := uses[p.Name]
		if !known || p.Reference != "ghcr.io/dogwatch/"+p.Name+":"+version {
			t.Fatalf("%s is %s, and there is a test of it: %v", p.Name, p.Reference, known)
		}
		s.says(t, p.Reference, 0, "plugin", "search", p.Name)
		out := s.says(t, "installed "+p.Name, 0, "plugin", "install", p.Name, "--yes")
		if !strings.Contains(out, "which is that of Dogwatch's releases") {
			t.Errorf("%s: whose key it is is not said:\n%s", p.Name, out)
		}
		s.says(t, version+" is installed", 0, "plugin", "search", p.Name)
		s.says(t, "", 0, "plugin", "verify", filepath.Join(s.store, "plugins", p.Name))
		s.says(t, use.want, 0, append([]string{"plugin", "test"}, use.test...)...)
	}
	if len(all) != len(uses) {
		t.Errorf("%d plugins are listed, want %d", len(all), len(uses))
	}
	s.says(t, "did you mean trigger-file?", 2, "plugin", "install", "trigger-flie", "--yes")

	const next = "1.2.4"
	newer := []string{"trigger-file", "watcher-list"} // the same happens to all of them
	c.with("GALLERY="+strings.Join(newer, " ")).must(t, "sh", "packaging/plugins.sh", next)
	s.says(t, next, 0, "plugin", "outdated")
	s.says(t, "", 0, "plugin", "update", "--all", "--yes")
	for _, name := range newer {
		s.says(t, next+" is installed", 0, "plugin", "search", name)
		s.says(t, uses[name].want, 0, append([]string{"plugin", "test"}, uses[name].test...)...)
		s.says(t, name+" is "+version+" again", 0, "plugin", "rollback", name)
	}
	testGalleryPages(t, newStranger(t, c, host), uses["trigger-file"].env)

	another := filepath.Join(t.TempDir(), "key")
	c.must(t, "go", "run", "aead.dev/minisign/cmd/minisign", "-G", "-W", "-f", "-p", "/dev/null", "-s", another)
	forged := c.with("GALLERY=trigger-file", "ARCH=amd64", "MINISIGN_KEY_FILE="+another)
	forged.must(t, "sh", "packaging/plugins.sh", version)
	newStranger(t, c, host).says(t, "it is signed by another key", 1, "plugin", "install", "trigger-file", "--yes")
}

// testGalleryPages has a user of the pages, here of what is behind them, install a plugin, update it and roll it back.
func testGalleryPages(t *testing.T, s stranger, configured []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(at)
	cmd := exec.CommandContext(t.Context(), s.program)
	cmd.Env = slices.Concat(s.env, configured, []string{"DOGWATCH_SERVER_HOST=127.0.0.1", "DOGWATCH_SERVER_PORT=" + port})
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	call := func(method, path string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+at+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	until := func(what, path, want string) {
		t.Helper()
		var got string
		for deadline := time.Now().Add(time.Minute); !strings.Contains(got, want); time.Sleep(50 * time.Millisecond) {
			if _, got = call(http.MethodGet, path); time.Now().After(deadline) {
				_, plugins := call(http.MethodGet, "/api/plugins")
				t.Fatalf("%s: want %s in %s\n%s", what, want, got, plugins)
			}
		}
	}
	until("the gallery", "/api/plugins/gallery", `"reference":"ghcr.io/dogwatch/trigger-file:`+version+`"`)
	for _, step := range []struct{ path, want string }{
		{"/api/plugins/trigger-file/install", `"version":"` + version + `"`},
		{"/api/plugins/trigger-file/rollback", "there is no version before to go back to"},
		{"/api/plugins/trigger-file/update", `"version":"1.2.4"`},
		{"/api/plugins/trigger-file/update", "there is no newer version of trigger-file than 1.2.4"},
		{"/api/plugins/trigger-file/rollback", `"version":"` + version + `"`},
		{"/api/plugins/nosuch/install", "the gallery has no plugin nosuch"},
	} {
		if _, got := call(http.MethodPost, step.path); !strings.Contains(got, step.want) {
			t.Errorf("%s: want %s, got %s", step.path, step.want, got)
		}
	}
	until("it runs", "/api/triggers/file/main", `"state":"ready"`)
	until("the event", "/api/events", `"to":"`+version+` (install)"`)
}
