package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/metrics"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/core/watch/webhook"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	sdkplugin "github.com/dogwatch/dogwatch/sdk/plugin"
)

// TestMain lets this test binary stand for the plugins, which go-plugin starts with its cookie.
func TestMain(m *testing.M) {
	if os.Getenv(protocol.Handshake().MagicCookieKey) != "" {
		sdkplugin.Serve(bundle())
		return
	}
	status := m.Run()
	for _, stop := range stopComponents {
		stop()
	}
	os.Exit(status)
}

// testOptions are those of a server, and of the service behind it.
type testOptions struct {
	Options
	app service.Options
}

// testServer is a running server and what is behind it.
type testServer struct {
	t          testing.TB
	opt        Options
	store      *store.Store
	bus        *event.Bus
	checks     *fakeChecks
	components *component.Manager
	triggers   *fakeTriggers
	updates    *fakeUpdates
	redactor   *logging.Redactor
	log        *logBuffer
	url        string
	client     *http.Client
	stop       func() error
}

// logBuffer is a log that tests read while the server writes it.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start runs a server over an empty store. Settings are environment variables; change edits the options.
func start(t testing.TB, settings []string, change ...func(*testOptions)) *testServer {
	t.Helper()
	p, err := shown()
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, p, settings, change...)
}

func startWith(t testing.TB, p fixture, settings []string, change ...func(*testOptions)) *testServer {
	t.Helper()
	folder := t.TempDir()
	conf, err := config.Load(config.Input{Environ: append([]string{
		"DOGWATCH_SERVER_HOST=127.0.0.1", "DOGWATCH_SERVER_PORT=0", "DOGWATCH_STORE_PATH=" + folder}, settings...)})
	if err != nil {
		t.Fatal(err)
	}
	w := &testServer{
		t: t, bus: new(event.Bus), checks: &fakeChecks{}, triggers: &fakeTriggers{}, updates: &fakeUpdates{},
		redactor: p.redactor, log: new(logBuffer),
	}
	w.store = storetest.Open(t, filepath.Join(folder, "store.db"), store.Options{Bus: w.bus})
	choices := choice.New(choice.Options{Store: w.store, Now: time.Now})
	log := hclog.New(&hclog.LoggerOptions{
		Output: w.log, Level: hclog.LevelFromString(conf.Log.Level), Mutex: new(sync.Mutex),
	})
	agents, err := agent.NewController(t.Context(), agent.ControllerOptions{
		Store: w.store, Authority: filepath.Join(folder, "agents-ca.pem"), Version: "1.2.3", Log: log, Now: time.Now,
		Taken: func(name string) bool { return name == "local" }, Changed: func() {}, Linked: func(string, error) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(agents.Close)
	o := testOptions{
		Options: Options{
			Config: conf, Version: "1.2.3", Events: w.store, Bus: w.bus,
			Metrics: metrics.New("1.2.3", metrics.Options{Enabled: conf.Prometheus.Enabled, WUD: conf.Prometheus.WUD}),
			Agents:  agents,
			Redact:  p.redactor.String, Log: log, Now: time.Now,
		},
		app: service.Options{
			Config: func() *config.Config { return conf }, Version: "1.2.3", Store: w.store, Components: p.manager,
			Plugins: noTrust{p.host}, Checks: w.checks,
			Triggers: w.triggers, TestRuns: fakeTestRuns{}, Updater: w.updates, Operations: w.updates, Choices: choices,
			Links: signedlink.None{}, Notes: notes.None{}, Webhooks: webhook.None{}, Scans: scan.None{}, Log: log,
			Agents: agents,
		},
	}
	for _, c := range change {
		c(&o)
	}
	o.Auth = auth.New(auth.Options{Config: conf, Store: w.store, Secrets: p.redactor.Add, Log: log, Now: o.Now})
	o.app.Auth, o.app.Redact, o.app.Now = o.Auth, o.Redact, o.Now
	o.Service = service.New(o.app)
	w.opt, w.components = o.Options, p.manager
	w.serve()
	return w
}

func (w *testServer) serve() {
	w.t.Helper()
	server, err := Listen(w.opt)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	w.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	w.t.Cleanup(func() {
		if err := w.stop(); err != nil {
			w.t.Errorf("stop the server: %v", err)
		}
		if err := w.store.Close(); err != nil {
			w.t.Errorf("close the store: %v", err)
		}
	})
	scheme := "http://"
	if w.opt.Config.Server.TLS.Enabled {
		scheme = "https://"
	}
	w.url = scheme + server.Addr().String()
	w.client = &http.Client{
		Transport: &validating{
			t: w.t, base: w.opt.Config.Server.BasePath, next: &http.Transport{DisableCompression: true},
		}, Timeout: 30 * time.Second,
	}
	w.t.Cleanup(w.client.CloseIdleConnections)
}

func (w *testServer) put(containers ...sdk.Container) {
	w.t.Helper()
	if err := w.store.Commit(context.Background(), event.Change{Put: containers}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *testServer) commitEvents(events ...event.Event) {
	w.t.Helper()
	if err := w.store.Commit(context.Background(), event.Change{Events: events}); err != nil {
		w.t.Fatal(err)
	}
}

// response is a response that was read.
type response struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

// do sends a request. Headers are pairs of name and value; Host is one of them.
func (w *testServer) do(method, path, body string, headers ...string) response {
	w.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(context.Background(), method, w.url+path, reader)
	if err != nil {
		w.t.Fatal(err)
	}
	for pair := range slices.Chunk(headers, 2) {
		if pair[0] == "Host" {
			r.Host = pair[1]
		} else {
			r.Header.Add(pair[0], pair[1])
		}
	}
	resp, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return response{t: w.t, status: resp.StatusCode, header: resp.Header, body: read}
}

func (w *testServer) get(path string, headers ...string) response {
	return w.do("GET", path, "", headers...)
}

// want checks the status.
func (a response) want(status int) response {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d; body %s", a.status, status, a.body)
	}
	return a
}

// fails checks the status and that the error has all parts.
func (a response) fails(status int, fixture ...string) response {
	a.t.Helper()
	a.want(status)
	message, _ := a.object()["error"].(string)
	for _, part := range fixture {
		if !strings.Contains(message, part) {
			a.t.Errorf("the error %q lacks %q", message, part)
		}
	}
	return a
}

func decodeAs[T any](a response) T {
	a.t.Helper()
	var v T
	if err := json.Unmarshal(a.body, &v); err != nil {
		a.t.Fatalf("%v in %s", err, a.body)
	}
	return v
}

func (a response) object() map[string]any { a.t.Helper(); return decodeAs[map[string]any](a) }
func (a response) list() []map[string]any { a.t.Helper(); return decodeAs[[]map[string]any](a) }

// names returns the names of a list's items.
func (a response) names() []string {
	a.t.Helper()
	found := []string{}
	for _, item := range a.list() {
		found = append(found, fmt.Sprint(item["name"]))
	}
	return found
}

func same[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	g, err := json.Marshal(got)
	wanted, err2 := json.Marshal(want)
	if errors.Join(err, err2) != nil {
		t.Fatal(err, err2)
	}
	if !bytes.Equal(g, wanted) {
		t.Errorf("%s is %s, want %s", what, g, wanted)
	}
}

// nginx has every field of the contract, and an update.
func nginx() sdk.Container {
	return sdk.Container{
		ID: "31a61a8305ef1fc9a71fa4f20a68d7ec88b28e32303bbc4a5f192e851165b816", Name: "nginx",
		DisplayName: "Web server", DisplayIcon: "mdi:docker",
		Status: "running", Watcher: "local", IncludeTags: `^\d+\.\d+\.\d+$`,
		LinkTemplate: "https://example.org/${major}?a=1&b=<2>",
		Link:         "https://example.org/1?a=1&b=<2>",
		Image: sdk.Image{
			ID:       "sha256:d4a5e0e6e5b9b0d7a5d2a5f0b4f1c8c2e9d7",
			Registry: sdk.Registry{Name: "hub.public", URL: "https://registry-1.docker.io/v2", Host: "docker.io"},
			Name:     "library/nginx", Tag: sdk.Tag{Value: "1.25.0", Semver: true},
			Digest:       sdk.Digest{Watch: true, Repo: "sha256:3e2b8c", Value: "sha256:3e2b8c"},
			Architecture: "amd64", OS: "linux", Variant: "v8",
			Created: sdk.TimeOf(time.Date(2021, 6, 12, 5, 33, 38, 440e6, time.UTC)),
		},
		Labels: map[string]string{
			"dogwatch.tag.include": `^\d+\.\d+\.\d+$`, "com.docker.compose.project": "web",
			"com.docker.compose.service": "nginx", "empty": "",
		},
		Result: &sdk.Result{
			Tag: "1.26.0", Digest: "sha256:9f", Created: sdk.TimeOf(time.Date(2024, 6, 12, 5, 33, 38, 0, time.UTC)),
			Link: "https://example.org/1.26?a=1&b=2",
		},
		Check:           sdk.CheckState{State: sdk.CheckOK, At: sdk.TimeOf(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))},
		UpdateAvailable: true,
		UpdateKind: sdk.UpdateKind{
			Kind: sdk.KindTag, LocalValue: "1.25.0", RemoteValue: "1.26.0", SemverDiff: sdk.DiffMinor,
		},
	}
}

// redis is up to date, and never was checked successfully.
func redis() sdk.Container {
	return sdk.Container{
		ID: "AbC/é 1", Name: "redis", DisplayName: "redis", Status: "exited", Watcher: "remote",
		Image: sdk.Image{ID: "sha256:77", Registry: sdk.Registry{
			Name: "ghcr.public", URL: "https://ghcr.io/v2", Host: "ghcr.io",
		}, Name: "team/redis",
			Tag: sdk.Tag{Value: "latest"}, Architecture: "arm64", OS: "linux"},
		Error: &sdk.ContainerError{Message: "the registry answered 404"}, Check: sdk.CheckState{State: sdk.CheckFailed},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindUnknown},
	}
}

func request(t testing.TB, method, path string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func ids(items []map[string]any) []int64 {
	found := []int64{}
	for _, item := range items {
		found = append(found, int64(item["id"].(float64)))
	}
	return found
}
