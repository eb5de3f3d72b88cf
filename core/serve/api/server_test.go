package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestGracefulShutdownDrainsRequests: requests under way get their response, those that wait for a check get 503, and
// no new ones are accepted.
func TestGracefulShutdownDrainsRequests(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	running, release := make(chan struct{}), make(chan struct{})
	w.triggers.run = func(ctx context.Context) error {
		close(running)
		<-release
		return ctx.Err()
	}
	checking, checked := make(chan struct{}), make(chan struct{})
	w.checks.watchAll = func() error { close(checking); <-checked; return nil }
	trigger, watch := make(chan response, 1), make(chan response, 1)
	go func() { trigger <- w.do("POST", "/api/containers/"+nginx().ID+"/triggers/ntfy/one", "") }()
	go func() { watch <- w.do("POST", "/api/containers/watch", "") }()
	<-running
	<-checking
	stopped := make(chan error, 1)
	go func() { stopped <- w.stop() }()
	(<-watch).fails(http.StatusServiceUnavailable, "stopping")
	close(release)
	(<-trigger).want(200)
	close(checked)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := http.Get(w.url + "/health"); err == nil {
		t.Error("the server still responds")
	}
}

// pipes is a listener whose connections are in memory, for the clock of a test.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestGracefulShutdownCancelsAfterDrainTime: after the time that requests have, they are cancelled.
func TestGracefulShutdownCancelsAfterDrainTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run, cancelRun := context.WithCancel(t.Context())
		quiet, endQuiet := context.WithCancel(t.Context())
		listener := pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		cause := make(chan error, 1)
		s := &Server{listener: listener, quiet: quiet, endQuiet: endQuiet, cancelRun: cancelRun, http: &http.Server{
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				<-run.Done()
				cause <- run.Err()
			}),
		}}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx) }()
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				here, there := net.Pipe()
				listener.conns <- there
				return here, nil
			}}}
		responded := make(chan error, 1)
		go func() {
			resp, err := client.Get("http://localhost/")
			if err == nil {
				resp.Body.Close()
			}
			responded <- err
		}()
		synctest.Wait()
		began := time.Now()
		stop()
		if err := <-cause; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if took := time.Since(began); took != drainTime {
			t.Errorf("cancelled after %v, want %v", took, drainTime)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		<-responded
		endQuiet()
	})
}

// TestWriteDeadlines: each piece of a response must be taken in time.
func TestWriteDeadlines(t *testing.T) {
	to := &reader{header: http.Header{}}
	h := &handler{Options: Options{Log: hclog.NewNullLogger(), limits: limits{}.complete()}}
	h.recovery(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write([]byte("x")); err != nil {
			t.Error(err)
		}
	})).ServeHTTP(to, httptest.NewRequest("GET", "/", nil))
	if left := time.Until(to.deadline); left <= 0 || left > h.limits.piece {
		t.Errorf("the deadline is in %v", left)
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"": false, "0.0.0.0": false, "::": false, "192.168.1.5": false, "dog.example.org": false, "127.0.0.1": true,
		"127.8.8.8": true, "::1": true, "localhost": true,
	} {
		if got := loopback(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}

// TestTriggerRunOutlivesRequestNotServer: they outlive their request, but not the server.
func TestTriggerRunOutlivesRequestNotServer(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	w.triggers.run = func(ctx context.Context) error { return ctx.Err() }
	run, cancel := context.WithCancel(t.Context())
	cancel()
	got := httptest.NewRecorder()
	newHandler(w.opt, run).ServeHTTP(got,
		httptest.NewRequest("POST", "http://localhost/api/containers/"+nginx().ID+"/triggers/ntfy/one", nil))
	if got.Code != http.StatusInternalServerError || !strings.Contains(got.Body.String(), "context canceled") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
