package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
)

const (
	password     = "correct-horse-battery"
	clientSecret = "client-secret-of-the-test"
)

// cheap is the {SHA} hash of password: no test waits for it.
const cheap = "{SHA}+Xl5/0SpoaQQX0uub+gJcV4KCoQ="

// testServer is an Auth over a real store, behind a real server.
type testServer struct {
	t      *testing.T
	auth   *Auth
	store  *store.Store
	config *config.Config
	url    string
	log    *bytes.Buffer

	mu  sync.Mutex
	at  time.Time
	err error // of the last request
}

func (w *testServer) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *testServer) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// start runs a server with settings of the environment.
func start(t *testing.T, settings ...string) *testServer {
	t.Helper()
	conf, err := config.Load(config.Input{
		Environ: append([]string{"HOME=/h", "DOGWATCH_STORE_PATH=" + t.TempDir()}, settings...),
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &testServer{t: t, config: conf, log: new(bytes.Buffer), at: time.Now().Truncate(time.Millisecond)}
	w.store = storetest.Open(t, filepath.Join(conf.Store.Path, "store.db"), store.Options{Now: w.now})
	t.Cleanup(func() { _ = w.store.Close() })
	w.restart()
	server := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// restart makes the Auth anew, over the same store.
func (w *testServer) restart() {
	log := hclog.New(&hclog.LoggerOptions{Output: w.log, Level: hclog.Trace, Mutex: new(sync.Mutex)})
	w.auth = New(Options{Config: w.config, Store: w.store, Agent: "dogwatch/1.2.3", Log: log, Now: w.now})
}

func (w *testServer) serve(rw http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var caller Identity
	var err error
	var to string
	switch {
	case parts[0] == "login":
		caller, err = w.auth.Login(rw, r, r.FormValue("user"), r.FormValue("password"), r.FormValue("keep") != "no")
	case parts[0] == "logout":
		to, err = w.auth.Logout(rw, r)
		caller.User = to
	case len(parts) == 4 && parts[3] == "redirect":
		if to, err = w.auth.BeginOIDC(rw, r, parts[2], r.FormValue("next")); err == nil {
			http.Redirect(rw, r, to, http.StatusFound)
			return
		}
	case len(parts) == 4 && parts[3] == "cb":
		if to, err = w.auth.FinishOIDC(rw, r, parts[2]); err == nil {
			http.Redirect(rw, r, to, http.StatusFound)
			return
		}
	default:
		caller, err = w.auth.Identify(rw, r)
	}
	w.mu.Lock()
	w.err = err
	w.mu.Unlock()
	if err != nil {
		rw.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(rw, err.Error())
		return
	}
	_ = json.NewEncoder(rw).Encode(map[string]any{
		"user": caller.User, "method": caller.Method, "scope": caller.Scope.String(), "path": r.URL.Path,
	})
}

// browser keeps cookies.
func (w *testServer) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 20 * time.Second}
}

func (w *testServer) cookie(c *http.Client, name string) string {
	u, _ := url.Parse(w.url)
	for _, cookie := range c.Jar.Cookies(u) {
		if cookie.Name == w.named(name) {
			return cookie.Value
		}
	}
	return ""
}

// named is the name that a cookie has at the port of the server.
func (w *testServer) named(cookie string) string {
	return cookie + "_" + w.url[strings.LastIndex(w.url, ":")+1:]
}

// response is "user method scope", or the error.
func (w *testServer) response(resp *http.Response, err error) string {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		return string(body)
	}
	var caller map[string]string
	if err := json.Unmarshal(body, &caller); err != nil {
		w.t.Fatalf("%v in %s", err, body)
	}
	return strings.TrimSpace(caller["user"] + " " + caller["method"] + " " + caller["scope"])
}

func (w *testServer) get(c *http.Client, path string) string {
	w.t.Helper()
	return w.response(c.Get(w.url + path))
}

func (w *testServer) login(c *http.Client, user, password string) string {
	w.t.Helper()
	return w.response(c.PostForm(w.url+"/login", url.Values{"user": {user}, "password": {password}}))
}

// with sends a header and returns the caller.
func (w *testServer) with(header, value string) string {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+"/whoami", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set(header, value)
	return w.response(http.DefaultClient.Do(r))
}

func (w *testServer) basic(user, password string) string {
	w.t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.SetBasicAuth(user, password)
	return w.with("Authorization", r.Header.Get("Authorization"))
}

func (w *testServer) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// trail lists "type subject method error" of the events.
func (w *testServer) trail() []string {
	w.t.Helper()
	all, err := w.store.Events(w.t.Context(), 0, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	lines := []string{}
	for _, e := range all {
		lines = append(lines,
			strings.TrimSpace(strings.Join([]string{string(e.Type), e.Subject, e.Login.Method, e.Login.Token}, " ")))
	}
	return lines
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	g, _ := json.Marshal(got)
	v, _ := json.Marshal(want)
	if !bytes.Equal(g, v) {
		t.Errorf("%s: got %s, want %s", what, g, v)
	}
}

func count(lines []string, line string) int {
	n := 0
	for _, l := range lines {
		if strings.HasPrefix(l, line) {
			n++
		}
	}
	return n
}

func contains(problems []config.Problem, text string) bool {
	return slices.ContainsFunc(problems, func(p config.Problem) bool { return strings.Contains(p.String(), text) })
}

var ana = []string{"WUD_AUTH_BASIC_MAIN_USER=ana", "WUD_AUTH_BASIC_MAIN_HASH=" + cheap}

func (w *testServer) events(t event.Type) int { return count(w.trail(), string(t)) }

func tooMany(err error) bool {
	var e *ThrottledError
	return errors.As(err, &e)
}

func newServer(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
