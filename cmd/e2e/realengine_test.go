package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
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
	"sync"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// startRegistry runs a real registry on a free port of the loopback interface and returns
// its host. extra are further sections of its configuration.
func startRegistry(t *testing.T, extra ...string) string {
	t.Helper()
	require(t, "registry", "docker-registry")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	host := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yml")
	must(t, os.WriteFile(config, fmt.Appendf(nil,
		"version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %q}\n%s", dir,
		host, strings.Join(extra, "\n")), 0o600))
	cmd := exec.Command("docker-registry", "serve", config)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("log of the registry:\n%s", tail(log.String(), 20))
		}
	})
	eventually(t, "the registry answers", func() bool {
		resp, err := http.Get("http://" + host + "/v2/")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK || len(extra) > 0 && resp.StatusCode == http.StatusUnauthorized
	})
	return host
}

// inbox keeps what arrived somewhere.
type inbox struct {
	mu   sync.Mutex
	mail []string
}

func (i *inbox) add(text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mail = append(i.mail, text)
}

func (i *inbox) all() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.mail)
}

// startMail runs a real SMTP server that keeps what it receives.
func startMail(t *testing.T) (*inbox, string) {
	t.Helper()
	box := &inbox{}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return mailSession{box}, nil }))
	server.Domain = "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return box, port
}

type mailSession struct{ box *inbox }

func (mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (mailSession) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (mailSession) Reset()                               {}
func (mailSession) Logout() error                        { return nil }
func (s mailSession) Data(r io.Reader) error {
	body, err := io.ReadAll(r)
	s.box.add(string(body))
	return err
}

// startSink keeps the bodies that are posted to it.
func startSink(t *testing.T) (*inbox, string) {
	t.Helper()
	box := &inbox{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		box.add(string(body))
	}))
	t.Cleanup(server.Close)
	return box, server.URL
}

// TestUpdateIsNotifiedOnceOnRealEngine is the whole main job on a real engine and a real registry:
// containers run, a newer tag is pushed, and every trigger is notified, once.
func TestUpdateIsNotifiedOnceOnRealEngine(t *testing.T) {
	t.Parallel()
	engine := dockertest.Start(t)
	registry := startRegistry(t)
	mail, mailPort := startMail(t)
	hook, hookURL := startSink(t)
	ntfy, ntfyURL := startSink(t)

	const version = "LABEL org.opencontainers.image.version="
	for _, ref := range []string{registry + "/media/player:1.2.0", registry + "/tools/clock:latest"} {
		engine.Image(t, ref, version+"1.2.0")
		engine.Push(t, ref)
		engine.Pull(t, ref)
	}
	player := engine.Run(t, "player", registry+"/media/player:1.2.0", map[string]string{
		"wud.link.template": "https://example.org/player/${major}.${minor}.${patch}"})
	engine.Run(t, "clock", registry+"/tools/clock:latest", nil)

	plugins := shortDir(t)
	compiled, err := filePlugin()
	must(t, err)
	copyFile(t, compiled, filepath.Join(plugins, "trigger-file"))
	lines := filepath.Join(openDir(t), "updates.log")

	in := install(t,
		"WUD_WATCHER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"), "WUD_WATCHER_LOCAL_CRON=0 0 1 1 *",
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry,
		"DOGWATCH_TRIGGER_SMTP_MAIN_HOST=127.0.0.1", "DOGWATCH_TRIGGER_SMTP_MAIN_PORT="+mailPort,
		"DOGWATCH_TRIGGER_SMTP_MAIN_FROM=dogwatch@example.org", "DOGWATCH_TRIGGER_SMTP_MAIN_TO=ana@example.org",
		"DOGWATCH_TRIGGER_SMTP_MAIN_BACKLOG=each",
		"DOGWATCH_TRIGGER_HTTP_HOOK_URL="+hookURL+"/hook",
		"DOGWATCH_TRIGGER_NTFY_PHONE_URL="+ntfyURL, "DOGWATCH_TRIGGER_NTFY_PHONE_TOPIC=updates",
		"DOGWATCH_TRIGGER_NTFY_PHONE_BACKLOG=each",
		"DOGWATCH_PLUGINS_DIR="+plugins, "DOGWATCH_TRIGGER_FILE_LOG_PATH="+lines)
	d := in.start()
	counts := func() string {
		logged, _ := os.ReadFile(lines)
		return fmt.Sprintf("mail %d, http %d, ntfy %d, file %d", len(mail.all()), len(hook.all()), len(ntfy.all()),
			bytes.Count(logged, []byte("\n")))
	}

	found := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	if len(found) != 2 || found[0].UpdateAvailable || found[1].UpdateAvailable {
		t.Fatalf("at first: %s", show(found))
	}
	for _, c := range found {
		if c.Check.State != sdk.CheckOK || c.Image.Registry.Name != "custom.lan" || c.Status != "running" {
			t.Errorf("at first: %s", show(c))
		}
	}

	newer := registry + "/media/player:1.3.0"
	engine.Image(t, newer, "LABEL version=1.3.0")
	engine.Push(t, newer)
	engine.Image(t, registry+"/tools/clock:next", version+"1.2.1")
	must(t, engine.API.ImageTag(t.Context(), registry+"/tools/clock:next", registry+"/tools/clock:latest"))
	engine.Push(t, registry+"/tools/clock:latest")

	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	c := get[sdk.Container](d, http.MethodGet, "/api/containers/"+player)
	want := sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.2.0", RemoteValue: "1.3.0", SemverDiff: sdk.DiffMinor}
	if !c.UpdateAvailable || c.UpdateKind != want || c.Result.Tag != "1.3.0" ||
		c.Result.Link != "https://example.org/player/1.3.0" {
		t.Errorf("player: %s", show(c))
	}
	clock := named(t, d.containers(), "clock")
	if !clock.UpdateAvailable || clock.UpdateKind.Kind != sdk.KindDigest ||
		clock.UpdateKind.LocalValue == clock.UpdateKind.RemoteValue {
		t.Errorf("clock: %s", show(clock))
	}
	if clock.Image.Version != "1.2.0" || clock.Result.Version != "1.2.1" || clock.UpdateKind.SemverDiff != sdk.DiffPatch {
		t.Errorf("the versions behind latest: %s", show(clock))
	}
	if _, page := d.request(http.MethodGet, "/containers/local/clock", ""); !strings.Contains(string(page),
		"latest (1.2.0)") || !strings.Contains(string(page), "1.2.1") {
		t.Errorf("the page does not show the versions behind latest: %s", page)
	}
	const once = "mail 2, http 2, ntfy 2, file 2"
	eventually(t, once, func() bool { return counts() == once })
	if all := strings.Join(mail.all(), "\n"); !strings.Contains(all, "Subject: New tag found for container player") ||
		!strings.Contains(all, "https://example.org/player/1.3.0") {
		t.Errorf("mail: %s", all)
	}

	// Nothing is sent again: not by another check, and not after a restart.
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	d.stop()
	d = in.start()
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	eventually(t, "every delivery is settled", func() bool {
		return len(get[[]json.RawMessage](d, http.MethodGet, "/api/deliveries?state=pending")) == 0
	})
	if got := counts(); got != once {
		t.Errorf("after a restart: %s, want %s", got, once)
	}

	swapped(t, d, plugins)
}

// swapped swaps the third-party plugin's file while Dogwatch runs: it is
// refused with the reason in the API, and runs once it is trusted.
func swapped(t *testing.T, d *daemon, plugins string) {
	path := filepath.Join(plugins, "trigger-file")
	body, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path+".new", append(body, "changed"...), 0o755))
	must(t, os.Rename(path+".new", path))
	state := func() plugin.Status {
		for _, p := range get[[]plugin.Status](d, http.MethodGet, "/api/plugins") {
			if p.Name == "trigger-file" {
				return p
			}
		}
		t.Fatal("the plugin is not listed")
		return plugin.Status{}
	}
	get[plugin.Status](d, http.MethodPost, "/api/plugins/trigger-file/restart")
	eventually(t, "the swapped plugin is refused", func() bool { return state().State == plugin.Untrusted })
	if reason := state().Error; !strings.Contains(reason, "changed since it was trusted") {
		t.Errorf("the reason is %q", reason)
	}
	test := `{"name":"made-up","updateKind":{"kind":"tag","localValue":"1","remoteValue":"2"}}`
	if status, body := d.request(http.MethodPost, "/api/triggers/file/log",
		test); status != http.StatusInternalServerError {
		t.Errorf("a refused plugin was run: %d %s", status, body)
	}
	seen := state().SHA256
	must(t, os.WriteFile(path+".new", append(body, "changed again"...), 0o755))
	must(t, os.Rename(path+".new", path))
	trust := func(sum string) (int, []byte) {
		return d.request(http.MethodPost, "/api/plugins/trigger-file/trust", `{"sha256":"`+sum+`"}`)
	}
	if status, body := trust(seen); status != http.StatusConflict || !strings.Contains(string(body), "look at it again") {
		t.Errorf("trust in a file that nobody has seen: %d %s", status, body)
	}
	eventually(t, "the file that is there now is shown", func() bool { return state().SHA256 != seen })
	if status, body := trust(state().SHA256); status != http.StatusAccepted {
		t.Errorf("trust: %d %s", status, body)
	}
	eventually(t, "the trusted plugin runs", func() bool { return state().State == plugin.Running })
	if status, body := d.request(http.MethodPost, "/api/triggers/file/log", test); status != http.StatusOK ||
		string(body) != "{}" {
		t.Errorf("a trusted plugin: %d %s", status, body)
	}
	if status, events := d.request(http.MethodGet, "/api/events", ""); status != http.StatusOK ||
		!strings.Contains(string(events), `"plugin trigger-file"`) ||
		!strings.Contains(string(events), "the file "+state().SHA256) {
		t.Errorf("the trust is not recorded: %d %s", status, events)
	}
}

// copyFile copies a program as cp and installers do, in pieces: written at once, its file
// would be in huge pages of the system's cache, and a use of one byte map 2 MB.
func copyFile(t testing.TB, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	must(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, errors.Join(err, out.Close()))
}

func named(t testing.TB, all []sdk.Container, name string) sdk.Container {
	t.Helper()
	for _, c := range all {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no container %s", name)
	return sdk.Container{}
}

func show(v any) string {
	body, _ := json.MarshalIndent(v, "", "  ")
	return string(body)
}
