package plugintest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Hanging returns the URL of an HTTP server that calls reached for each
// request and never responds. It is what a kit's Hanging wants:
//
//	Hanging: func(t *testing.T, reached func()) map[string]any {
//		return map[string]any{"url": plugintest.Hanging(t, reached)}
//	},
func Hanging(t testing.TB, reached func()) string {
	t.Helper()
	over := make(chan struct{})
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		// The server sees that the client went away only once the body is read.
		_, _ = io.Copy(io.Discard, r.Body)
		reached()
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	// Closing the server waits for its calls, also for those of a client that never gives up.
	t.Cleanup(func() { close(over) })
	return url
}

// Responding returns the URL of an HTTP server that responds to everything with
// status. The body of a response that is no success repeats the request, path,
// headers and body: an error that quotes it shows whatever secret was sent.
func Responding(t testing.TB, status int) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) { respond(w, r, status) })
}

// Limiting returns the URL of an HTTP server that responds to everything with 429, a rate limit,
// and asks to come back after a time, in whole seconds. It goes on for that time
// after the test: a plugin that remembers the pause would otherwise not ask
// another server that the system gives the same port.
func Limiting(t testing.TB, after time.Duration) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", fmt.Sprintf("%.0f", after.Seconds()))
		respond(w, r, http.StatusTooManyRequests)
	}))
	t.Cleanup(func() { time.AfterFunc(after, s.Close) })
	return s.URL
}

// Unreachable returns a URL where nothing listens.
func Unreachable(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatalf("free the port: %v", err)
	}
	return "http://" + l.Addr().String()
}

func serve(t testing.TB, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func respond(w http.ResponseWriter, r *http.Request, status int) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	if status < 300 {
		return
	}
	fmt.Fprintf(w, "%s %s\n", r.Method, r.URL)
	_ = r.Header.Write(w)
	_, _ = io.Copy(w, r.Body)
}
