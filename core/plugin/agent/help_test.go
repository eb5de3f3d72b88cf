package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// memory is a Store; that of the core has tests of its own.
type memory struct {
	mu     sync.Mutex
	tokens map[string]Wanted
	used   map[string][]byte
	agents []Agent
	now    func() time.Time
}

func (m *memory) AddAgentToken(_ context.Context, t Wanted) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens[t.ID] = t
	return nil
}

func (m *memory) JoinAgent(_ context.Context, id string, hash []byte, a Agent) (Agent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, known := m.tokens[id]
	switch {
	case !known || !bytes.Equal(hash, t.Hash):
		return a, ErrTokenUnknown
	case m.used[id] != nil && !bytes.Equal(m.used[id], a.Key):
		return a, ErrTokenUsed
	case !m.now().Before(t.Expires):
		return a, ErrTokenExpired
	}
	if t.Name != "" {
		a.Name = t.Name
	}
	if a.Name == "" {
		return a, ErrNameTaken
	}
	m.used[id] = a.Key
	m.agents = append(slices.DeleteFunc(slices.Clone(m.agents), func(b Agent) bool { return b.Name == a.Name }), a)
	return a, nil
}

func (m *memory) Agents(context.Context) ([]Agent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.agents), nil
}

func (m *memory) SeenAgent(_ context.Context, key []byte, version string, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, a := range m.agents {
		if bytes.Equal(a.Key, key) {
			m.agents[i].Version, m.agents[i].Seen = version, at
		}
	}
	return nil
}

func (m *memory) RemoveAgent(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.agents)
	m.agents = slices.DeleteFunc(slices.Clone(m.agents), func(a Agent) bool { return a.Name == name })
	if len(m.agents) == before {
		return ErrNotFound
	}
	return nil
}

func (m *memory) RenameAgent(_ context.Context, name, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, a := range m.agents {
		if a.Name == name {
			m.agents[i].Name = to
			return nil
		}
	}
	return ErrNotFound
}

// clock is a time that tests move.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time        { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) move(by time.Duration) { c.ahead.Add(int64(by)) }

// site is a controller that serves, behind a relay that tests cut and freeze.
type site struct {
	*Controller
	store *memory
	clock *clock
	url   string
	relay *relay
	log   *lockedBuffer
}

// newSite starts a controller, with the authority and the store of another when there is one.
func newSite(t *testing.T, change ...func(*ControllerOptions)) *site {
	t.Helper()
	s := &site{clock: &clock{}, log: &lockedBuffer{}}
	s.store = &memory{tokens: map[string]Wanted{}, used: map[string][]byte{}, now: s.clock.now}
	opt := ControllerOptions{
		Store: s.store, Authority: filepath.Join(t.TempDir(), "agents-ca.pem"), Version: "1.4.0", Taken: func(name string) bool { return name == "local" },
		Changed: func() {}, Linked: func(string, error) {}, Log: s.logger(), Now: s.clock.now, beat: 200 * time.Millisecond,
	}
	for _, c := range change {
		c(&opt)
	}
	var err error
	s.Controller, err = NewController(t.Context(), opt)
	must(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != Path {
			http.NotFound(w, r)
			return
		}
		if conn, err := Accept(w, r); err == nil {
			s.Serve(conn, r.RemoteAddr)
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(s.Close)
	s.relay = newRelay(t, server.Listener.Addr().String())
	s.url = "http://" + s.relay.listener.Addr().String()
	return s
}

// ca is the authority.
func (s *site) ca(t *testing.T) *Authority {
	t.Helper()
	a, _, err := s.open(true)
	must(t, err)
	return a
}

func (s *site) secured(t *testing.T) *tls.Config {
	t.Helper()
	_, config, err := s.open(true)
	must(t, err)
	return config
}

func (s *site) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: s.log})
}

// join returns the folder of an agent that has joined.
func (s *site) join(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	_, err := s.joinAs(t, JoinOptions{Dir: dir, Name: name})
	must(t, err)
	return dir
}

// joinAs joins with a token that is made for it, unless there is one.
func (s *site) joinAs(t *testing.T, opt JoinOptions) (Identity, error) {
	t.Helper()
	if opt.Token == "" {
		var err error
		opt.Token, _, err = s.NewToken(t.Context(), "", "ana")
		must(t, err)
	}
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	if opt.URL == "" {
		opt.URL = s.url
	}
	if opt.Name == "" {
		opt.Name = "nas"
	}
	if opt.Now == nil {
		opt.Now = s.clock.now
	}
	opt.Version = "1.4.0"
	return Join(t.Context(), opt)
}

// host runs the agent in a folder until the test, or stop, ends it.
func (s *site) host(t *testing.T, dir string, source Source, change ...func(*HostOptions)) (stop func()) {
	t.Helper()
	operations, err := OpenOperations(dir, source, s.logger())
	must(t, err)
	operations.pauses = backoff.Pauses{First: 5 * time.Millisecond, Longest: 20 * time.Millisecond}
	opt := HostOptions{
		Dir: dir, Version: "1.4.0", Log: s.logger(), Now: s.clock.now,
		Watcher: NewWatcher(source, operations, Limits{}, strings.NewReplacer(hostSecret, "***").Replace),
		pause:   backoff.Pauses{First: 5 * time.Millisecond, Longest: 20 * time.Millisecond}, beat: 200 * time.Millisecond,
	}
	for _, c := range change {
		c(&opt)
	}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, opt) }()
	stop = sync.OnceFunc(func() {
		end()
		if err := <-done; err != nil {
			t.Errorf("the agent ended: %v", err)
		}
		operations.Close()
	})
	t.Cleanup(stop)
	return stop
}

// list lists the containers of an agent, once it is connected.
func (s *site) list(ctx context.Context, name string) ([]watcher.Container, error) {
	c, err := s.Client(ctx, idOf(name), true)
	if err != nil {
		return nil, err
	}
	return c.Watcher(idOf(name)).List(ctx)
}

// lists waits until the containers of an agent can be listed.
func (s *site) lists(t *testing.T, name string) {
	t.Helper()
	eventually(t, "list the containers of "+name, func() error {
		all, err := s.list(t.Context(), name)
		if err == nil && len(all) != 1 {
			err = errors.New("not one container")
		}
		return err
	})
}

// relay passes connections on, until it is told otherwise.
type relay struct {
	listener net.Listener
	frozen   atomic.Bool
	refuses  atomic.Bool
	bytes    atomic.Int64
	// cutAfter is how many bytes there are left until all connections are cut, 0 for never.
	cutAfter atomic.Int64

	mu    sync.Mutex
	conns []net.Conn
}

func newRelay(t *testing.T, to string) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := &relay{listener: l}
	t.Cleanup(func() { l.Close(); r.cut() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil || r.refuses.Load() {
				from.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, from, out)
			r.mu.Unlock()
			go r.pass(from, out)
			go r.pass(out, from)
		}
	}()
	return r
}

// pass drops what comes while the relay is frozen, as a network does that has lost a route.
func (r *relay) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		r.bytes.Add(int64(n))
		if r.frozen.Load() {
			continue
		}
		if before := r.cutAfter.Load(); before > 0 && r.cutAfter.CompareAndSwap(before, max(before-int64(n), 0)) &&
			before <= int64(n) {
			_, _ = to.Write(buffer[:before])
			r.cut()
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// cut ends all connections.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		c.Close()
	}
	r.conns = nil
}

// hostSecret is one that agents know.
const hostSecret = "s3cret-of-the-host"

// engine is a Source with one container.
type engine struct {
	watcher.Updater // nil where nothing is updated
	events          chan watcher.Event
	failure         atomic.Pointer[error] // of listing and probing; nil for none
	logs            atomic.Int64          // how often one was read
}

func (e *engine) fail(err error) { e.failure.Store(&err) }

func (e *engine) failed() error {
	if err := e.failure.Load(); err != nil {
		return *err
	}
	return nil
}

func newEngine() *engine { return &engine{events: make(chan watcher.Event)} }

func (e *engine) ListRaw(context.Context) ([]watcher.Container, error) {
	return []watcher.Container{{
		ID: "c1", Name: "web", Status: "running", Labels: map[string]string{"a": "b", "c": "d"}, ImageLabels: []string{"c"},
		Image: watcher.Image{ID: "sha256:1", Name: "nginx", Tag: "1.27"},
	}}, nil
}

func (e *engine) Watch(ctx context.Context, emit func(watcher.Event)) error {
	for {
		select {
		case ev := <-e.events:
			emit(ev)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (e *engine) Probe(context.Context) (sdk.ProbeResult, error) {
	return sdk.ProbeResult{Summary: "engine 29"}, e.failed()
}

func (e *engine) ReadLog(_ context.Context, req watcher.LogRequest) (watcher.Log, error) {
	e.logs.Add(1)
	lines := []watcher.LogLine{{Text: "of " + req.ContainerID}, {Text: "with " + hostSecret, Stderr: true}}
	return watcher.Log{Lines: lines[:min(req.Lines, 2)]}, nil
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

var _ io.Writer = (*lockedBuffer)(nil)

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually repeats what fails for a while.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	end := time.Now().Add(20 * time.Second)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func wants(t *testing.T, what string, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: error %v, want %q", what, err, text)
	}
}
