package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// dial opens a connection to the server and sends text.
func (w *testServer) dial(t testing.TB, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// ended reports whether the server closes a connection within a time.
func ended(conn net.Conn, within time.Duration) bool {
	_ = conn.SetReadDeadline(time.Now().Add(within))
	_, err := io.Copy(io.Discard, conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// requests has one request for every route, every page and what is neither.
func requests(t *testing.T, w *testServer) []string {
	t.Helper()
	all := []string{"GET /nowhere", "POST /nowhere", "GET /login", "POST /login", "POST /logout", "POST /theme",
		"GET /static/app.css", "GET /containers",
		"POST /containers/act", "GET /api/nowhere", "POST /api/nowhere", "PUT /api/containers",
		"OPTIONS /api/containers", "PROPFIND /api/app", "HEAD /api/events"}
	routes := everyRoute(w)
	for _, operation := range routesOf(t, newRouter(w.opt, t.Context())) {
		route, known := routes[operation]
		if !known {
			t.Errorf("%s is not in everyRoute", operation)
			continue
		}
		method, _, _ := strings.Cut(operation, " ")
		all = append(all, method+" "+route.path)
	}
	slices.Sort(all)
	return all
}

// TestBodyReadDeadline: on every route, before and after any login, a client that
// announces a body and does not send it, or never ends it, is left.
func TestBodyReadDeadline(t *testing.T) {
	const limit = 300 * time.Millisecond
	quick := func(o *testOptions) { o.limits.body, o.Pages = limit, formPages{} }
	for name, w := range map[string]*testServer{"open": start(t, nil, quick), "locked": startWithLogin(t, nil, quick)} {
		w.put(nginx(), redis())
		var all sync.WaitGroup
		open := make(chan struct{}, 250) // the server limits the connections of one client
		for _, line := range requests(t, w) {
			for what, rest := range map[string]string{
				"nothing of it":      "Content-Length: 1000\r\n\r\n",
				"a part of it":       "Content-Length: 1000\r\n\r\n{\"a\":",
				"no chunk":           "Transfer-Encoding: chunked\r\n\r\n",
				"no last chunk":      "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
				"more than allowed":  "Content-Length: 90000000\r\n\r\n{}",
				"after 100 Continue": "Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n",
			} {
				all.Go(func() {
					open <- struct{}{}
					defer func() { <-open }()
					began := time.Now()
					conn := w.dial(t, line+" HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"+rest)
					if !ended(conn, 10*time.Second) {
						t.Errorf("%s, %s, that sends %s: the connection is open after %v", name, line, what, time.Since(began))
					}
				})
			}
		}
		all.Wait()
	}
}

// TestBodyReadDeadlineCoversWholeBody: the time is for the whole body, not for each piece of it.
func TestBodyReadDeadlineCoversWholeBody(t *testing.T) {
	t.Parallel()
	w := start(t, nil, func(o *testOptions) { o.limits.body, o.Pages = 500*time.Millisecond, formPages{} })
	for _, path := range []string{"/health", "/auth/login", "/api/triggers/ntfy/one", "/login"} {
		for what, c := range map[string]struct{ head, piece string }{
			"bytes":  {"Content-Length: 10000", " "},
			"chunks": {"Transfer-Encoding: chunked", "1\r\n \r\n"},
		} {
			conn := w.dial(t, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\n"+c.head+"\r\n\r\n")
			over := make(chan bool, 1)
			go func() { over <- ended(conn, 10*time.Second) }()
			drip := time.NewTicker(50 * time.Millisecond)
			for dripping := true; dripping; {
				select {
				case <-drip.C:
					_, _ = io.WriteString(conn, c.piece) // the server may have left
				case ok := <-over:
					if dripping = false; !ok {
						t.Errorf("%s %s: the connection stays open", path, what)
					}
				}
			}
			drip.Stop()
		}
	}
}

// TestSlowBodyGets408: the response says that the body took too long.
func TestSlowBodyGets408(t *testing.T) {
	w := start(t, nil, func(o *testOptions) { o.limits.body = 200 * time.Millisecond })
	conn := w.dial(t, "POST /api/triggers/ntfy/one HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{\"name\":")
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusRequestTimeout || !resp.Close || !strings.Contains(string(body), "200ms") {
		t.Errorf("status %d, close %t: %s", resp.StatusCode, resp.Close, body)
	}
	if len(w.triggers.runs) > 0 {
		t.Error("a trigger ran with half a body")
	}
}

// TestBodyReadDeadlineDoesNotLimitHandler: the time for a body is not that of the request.
func TestBodyReadDeadlineDoesNotLimitHandler(t *testing.T) {
	t.Parallel()
	const limit = 150 * time.Millisecond
	w := start(t, nil, func(o *testOptions) { o.limits.body = limit })
	w.put(nginx())
	w.checks.watchAll = func() error { time.Sleep(4 * limit); return nil }
	w.checks.watchOne = func(sdk.Container) error { time.Sleep(4 * limit); return nil }
	for _, path := range []string{"/api/containers/watch", "/api/containers/" + nginx().ID + "/watch"} {
		for _, body := range []string{"", "{}"} {
			w.do("POST", path, body, "Content-Type", "application/json").want(200)
		}
	}
	for what, rest := range map[string]string{
		"no body": "\r\n", "an empty one": "Content-Length: 0\r\n\r\n", "a body": "Content-Length: 2\r\n\r\n{}",
		"chunks": "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	} {
		conn := w.dial(t, "GET /api/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"+rest)
		lines := bufio.NewReader(conn)
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		for text := ""; text != "\r\n"; {
			var err error
			if text, err = lines.ReadString('\n'); err != nil {
				t.Fatal(what, err)
			}
		}
		time.Sleep(2 * limit)
		w.commitEvents(checked("after " + what))
		for text := ""; !strings.Contains(text, "after "+what); {
			var err error
			if text, err = lines.ReadString('\n'); err != nil {
				t.Fatalf("a stream with %s ended: %v", what, err)
			}
		}
	}
}

// TestBodyInTimeKeepsConnection: a body in time, read or not, costs no connection.
func TestBodyInTimeKeepsConnection(t *testing.T) {
	w := start(t, nil, func(o *testOptions) { o.limits.body = 200 * time.Millisecond })
	conn := w.dial(t, "")
	lines := bufio.NewReader(conn)
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	for i, request := range []string{
		"GET /health HTTP/1.1\r\nContent-Length: 2\r\n", "POST /api/containers/watch HTTP/1.1\r\nContent-Length: 2\r\n",
		"GET /api/nowhere HTTP/1.1\r\nContent-Length: 2\r\n", "GET /health HTTP/1.1\r\nContent-Length: 2\r\n",
	} {
		fmt.Fprintf(conn, "%sHost: localhost\r\n\r\n{}", request)
		resp, err := http.ReadResponse(lines, nil)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.Close {
			t.Errorf("request %d: close %t, %v", i, resp.Close, err)
		}
		time.Sleep(250 * time.Millisecond) // longer than a body may take
	}
}

// formPages are pages that read a form where it is posted.
type formPages struct{}

func (formPages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		_ = r.ParseForm()
	}
	_, _ = io.WriteString(w, "a page")
}

func (formPages) Refuse(w http.ResponseWriter, _ *http.Request, status int, why string) {
	http.Error(w, why, status)
}
