package api

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// dialFrom opens a connection from a loopback address and sends text.
func (w *testServer) dialFrom(t testing.TB, address, text string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Skip("this system has one loopback address only:", err)
	}
	t.Cleanup(func() { conn.Close() })
	_, _ = io.WriteString(conn, text) // the server may have left
	return conn
}

// TestConnectionLimitEvictsStalled: past the limit a connection without progress is closed, and
// new connections are served.
func TestConnectionLimitEvictsStalled(t *testing.T) {
	const bound = 8
	for what, sends := range map[string]string{
		"nothing": "", "half a header": "GET /health HTTP/1.1\r\nHost: loc",
		"half a body":            "POST /api/containers/watch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
		"no body that is wanted": "POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
		"a stream":               "GET /api/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
	} {
		w := start(t, nil, func(o *testOptions) { o.limits.connections = bound })
		var slow []net.Conn
		for range 3 * bound {
			slow = append(slow, w.dial(t, sends))
			time.Sleep(2 * time.Millisecond) // accepted in this order
		}
		for range bound {
			w.client.CloseIdleConnections()
			w.get("/health").want(200)
		}
		for i, conn := range slow[:2*bound] {
			if !ended(conn, 5*time.Second) {
				t.Errorf("of %d that send %s, connection %d is open", len(slow), what, i)
				break
			}
		}
		if !strings.Contains(w.log.String(), "clients hold too much") || strings.Count(w.log.String(), "\n") > 2 {
			t.Errorf("the log says %q", w.log)
		}
	}
}

// TestConnectionLimitEvictsClientWithMost: connections of other clients stay open.
func TestConnectionLimitEvictsClientWithMost(t *testing.T) {
	w := start(t, nil, func(o *testOptions) { o.limits.connections = 8 })
	const request = "GET /api/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
	others := []net.Conn{w.dialFrom(t, "127.0.0.2", request), w.dialFrom(t, "127.0.0.3", ""),
		w.dialFrom(t, "127.0.0.3", request)}
	for range 30 {
		w.dialFrom(t, "127.0.0.4", request)
	}
	w.get("/health").want(200)
	for i, conn := range others {
		if ended(conn, 100*time.Millisecond) {
			t.Errorf("connection %d of another client was closed", i)
		}
	}
}

// TestHeldBytesLimit: bodies that do not end cannot exhaust the memory.
func TestHeldBytesLimit(t *testing.T) {
	w := start(t, nil, func(o *testOptions) { o.limits.held = 200 << 10 })
	body := strings.Repeat(" ", 50<<10)
	var slow []net.Conn
	for range 12 {
		slow = append(slow,
			w.dial(t,
				fmt.Sprintf("POST /api/containers/watch HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s",
					len(body)+1, body)))
	}
	open := 0
	for _, conn := range slow {
		if !ended(conn, 200*time.Millisecond) {
			open++
		}
	}
	if open > 4 || open == 0 {
		t.Errorf("%d of %d clients may go on, with 50 KiB each of 200", open, len(slow))
	}
	// What was held is released: clients that hold little never evict others.
	for range 20 {
		w.do("POST", "/api/triggers/ntfy/one", `{"name":"`+strings.Repeat("x", 40<<10)+`"}`).want(200)
	}
}

// TestResponseDeadline: a client that reads slowly has a deadline for the whole response; streams have none.
func TestResponseDeadline(t *testing.T) {
	for contentType, endless := range map[string]bool{"application/json": false, "text/event-stream": true} {
		to := &reader{header: http.Header{}}
		h := &handler{
			Options: Options{Log: hclog.NewNullLogger(), limits: limits{piece: time.Hour, response: time.Minute}.complete()},
		}
		h.recovery(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, "x")
		})).ServeHTTP(to, httptest.NewRequest("GET", "/", nil))
		if got := time.Until(to.deadline) > time.Minute; got != endless {
			t.Errorf("%s: the deadline is in %v", contentType, time.Until(to.deadline))
		}
	}
}

// TestSlowReaderDoesNotHoldSemaphore: a response is rendered under the semaphore, and sent after its release.
func TestSlowReaderDoesNotHoldSemaphore(t *testing.T) {
	h := &handler{rendering: make(semaphore, 1)}
	sending, taken := make(chan struct{}), make(chan struct{})
	slow := &blocked{header: http.Header{}, sending: sending, taken: taken}
	show := h.limitRendering(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "a page")
	})
	done := make(chan struct{})
	go func() { defer close(done); show(slow, httptest.NewRequest("GET", "/", nil)) }()
	<-sending
	quick := httptest.NewRecorder()
	began := time.Now()
	show(quick, httptest.NewRequest("GET", "/", nil))
	if quick.Code != http.StatusAccepted || quick.Body.String() != "a page" || time.Since(began) >= maxRenderWait {
		t.Errorf("status %d, %q after %v", quick.Code, quick.Body, time.Since(began))
	}
	close(taken)
	<-done
}

// blocked is a client that does not read before taken is closed.
type blocked struct {
	header         http.Header
	sending, taken chan struct{}
}

func (b *blocked) Header() http.Header { return b.header }
func (b *blocked) WriteHeader(int)     {}
func (b *blocked) Write(p []byte) (int, error) {
	close(b.sending)
	<-b.taken
	return len(p), nil
}
