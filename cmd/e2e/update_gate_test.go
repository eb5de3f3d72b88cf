package e2e

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// gate stands before an engine. It keeps the changes that pass, and stops any
// request for a test: before the engine sees it, and before its response is seen.
type gate struct {
	// socket is where clients reach the engine.
	socket string
	// hook, if set, is called with every request of an update, see moment. A false
	// result drops the request, or its response.
	hook atomic.Pointer[func(moment) bool]

	mu      sync.Mutex
	changes []moment
}

// moment is a request at the gate.
type moment struct {
	// what is the step of an update that the request is of, "look" for one that
	// changes nothing, and "permission" for the check of whether changes are allowed.
	what string
	// method and path are the request, without the version of the API.
	method, path string
	// responded is false before the engine sees the request, and true afterwards.
	responded bool
}

var (
	apiVersion = regexp.MustCompile(`^/v1\.\d+`)
	// changing are the requests of an update.
	changing = []struct {
		what, method string
		path         *regexp.Regexp
	}{
		{"permission", "POST", regexp.MustCompile(`^/containers/dogwatch-permission-check/start$`)},
		{"pull", "POST", regexp.MustCompile(`^/images/create$`)},
		{"tag", "POST", regexp.MustCompile(`^/images/.+/tag$`)},
		{"prune", "DELETE", regexp.MustCompile(`^/images/`)},
		{"create", "POST", regexp.MustCompile(`^/containers/create$`)},
		{"rename", "POST", regexp.MustCompile(`^/containers/[^/]+/rename$`)},
		{"stop", "POST", regexp.MustCompile(`^/containers/[^/]+/stop$`)},
		{"start", "POST", regexp.MustCompile(`^/containers/[^/]+/start$`)},
		{"remove", "DELETE", regexp.MustCompile(`^/containers/`)},
		{"connect", "POST", regexp.MustCompile(`^/networks/[^/]+/connect$`)},
		{"files", "PUT", regexp.MustCompile(`^/containers/[^/]+/archive$`)},
		{"hook", "POST", regexp.MustCompile(`^/exec/[^/]+/start$`)},
	}
)

func momentOf(r *http.Request) moment {
	m := moment{what: "look", method: r.Method, path: apiVersion.ReplaceAllString(r.URL.Path, "")}
	for _, c := range changing {
		if c.method == m.method && c.path.MatchString(m.path) {
			m.what = c.what
			return m
		}
	}
	if m.method != http.MethodGet && m.method != http.MethodHead {
		m.what = "other"
	}
	return m
}

// newGate puts a gate before an engine.
func newGate(t testing.TB, engine *dockertest.Daemon) *gate {
	t.Helper()
	g := &gate{socket: filepath.Join(shortDir(t), "gate.sock")}
	to := strings.TrimPrefix(engine.Host, "unix://")
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.FlushInterval = -1 // streams are passed on as they come
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", to)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	proxy.Transport = transport
	// as an engine that is away
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	pass := func(m moment) {
		if m.what != "look" && m.what != "permission" && !m.responded {
			g.mu.Lock()
			g.changes = append(g.changes, m)
			g.mu.Unlock()
		}
	}
	proxy.ModifyResponse = func(r *http.Response) error {
		m := momentOf(r.Request)
		m.responded = true
		if hook := g.hook.Load(); hook != nil && !(*hook)(m) {
			return http.ErrAbortHandler
		}
		return nil
	}
	l, err := net.Listen("unix", g.socket)
	must(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := momentOf(r)
		if hook := g.hook.Load(); hook != nil && !(*hook)(m) {
			panic(http.ErrAbortHandler)
		}
		pass(m)
		proxy.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	return g
}

// on sets the hook; nil for none.
func (g *gate) on(hook func(moment) bool) {
	if hook == nil {
		g.hook.Store(nil)
		return
	}
	g.hook.Store(&hook)
}

// take returns the changes that passed since the last call.
func (g *gate) take() []moment {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := g.changes
	g.changes = nil
	return all
}

// count returns how many of the changes are of a step.
func count(changes []moment, what string) int {
	n := 0
	for _, c := range changes {
		if c.what == what {
			n++
		}
	}
	return n
}

// steps names changes in their order.
func steps(changes []moment) []string {
	var all []string
	for _, c := range changes {
		all = append(all, c.what)
	}
	return slices.Clip(all)
}
