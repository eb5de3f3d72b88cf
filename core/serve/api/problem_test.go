package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
)

// panics is a Checks with a mistake.
type panics struct{ service.Checks }

func (panics) Explain(context.Context, sdk.Container) check.Explanation {
	var none []check.Explanation
	return none[len(none)]
}

func TestPanicGets500WithoutInternals(t *testing.T) {
	w := start(t, nil, func(o *testOptions) { o.app.Checks = panics{o.app.Checks} })
	w.put(nginx())
	w.get("/api/containers/"+nginx().ID+"/explain").fails(500, "internal error")
	w.get("/api/containers").want(200)
	for _, want := range []string{"request panicked", "index out of range", "goroutine", "/explain"} {
		if !strings.Contains(w.log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, w.log)
		}
	}
}

// TestPanicAbortsPartialResponse: a panic in the middle of a response must not look like its end.
func TestPanicAbortsPartialResponse(t *testing.T) {
	h := &handler{Options: Options{Log: hclog.NewNullLogger(), Redact: strings.Clone}}
	server := httptest.NewServer(h.recovery(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", "x")
		fmt.Fprint(w, "[1,")
		panic("in the middle")
	})))
	defer server.Close()
	resp, err := http.Get(server.URL)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Error("the client takes it for the whole response")
	}
}

func TestErrorDropsHeadersOfSuccess(t *testing.T) {
	h := &handler{Options: Options{Log: hclog.NewNullLogger(), Redact: strings.Clone}}
	w := httptest.NewRecorder()
	h.recovery(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", "x")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", "3")
		panic("before the response")
	})).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 500 || w.Header().Get("ETag") != "" || w.Header().Get("Content-Encoding") != "" ||
		w.Header().Get("Content-Length") == "3" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestMalformedBodies(t *testing.T) {
	w := start(t, nil)
	for body, want := range map[string]string{
		`{"name":`:                             "the body is not JSON: unexpected end of JSON input (at byte 8)",
		`{"name":"x"} {}`:                      "the body is not JSON",
		`not json`:                             "the body is not JSON",
		`<html>`:                               "the body is not JSON",
		`{name:"x"}`:                           "the body is not JSON",
		`[{"name":"x"}]`:                       "the body must be an object, not array",
		`"text"`:                               "the body must be an object, not string",
		`42`:                                   "the body must be an object, not number",
		`true`:                                 "the body must be an object, not bool",
		`{"name":5}`:                           "name: want a text, got number",
		`{"updateKind":{"kind":["tag"]}}`:      "updateKind.kind: want a text, got array",
		`{"updateKind":{"result":{"link":7}}}`: "updateKind.result.link: want a text, got number",
		`{"image":{"tag":{"semver":"yes"}}}`:   "image.tag.semver: want true or false, got string",
		`{"updateKind":"tag"}`:                 "updateKind: want an object, got string",
		`{"labels":{"a":1}}`:                   "labels",
		`{"image":{"created":"yesterday"}}`:    `time "yesterday": want ISO 8601`,
		strings.Repeat(`{"x":`, 15000):         "exceeded max depth",
	} {
		got := w.do("POST", "/api/triggers/ntfy/one", body, "Content-Type", "application/json").fails(400, want)
		if field, _, named := strings.Cut(want, ": want"); named && !strings.Contains(field, " ") {
			if fields := decodeAs[problem](got).Errors; len(fields) != 1 || fields[0].Field != field {
				t.Errorf("%s: errors %v", body, fields)
			}
		}
		for _, internal := range []string{"Go ", "sdk.", "struct"} {
			if strings.Contains(string(got.body), internal) {
				t.Errorf("%s: %s", body, got.body)
			}
		}
	}
	if len(w.triggers.runs) > 0 {
		t.Errorf("triggers ran: %v", w.triggers.runs)
	}
}

func TestBodySizeLimit(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	fits := `{"name":"` + strings.Repeat("x", maxBody-len(`{"name":""}`)) + `"}`
	for _, path := range []string{"/api/triggers/ntfy/one", "/api/containers/watch",
		"/api/containers/" + nginx().ID + "/triggers/ntfy/one", "/auth/login"} {
		w.do("POST", path, fits).want(200)
		w.do("POST", path, fits+" ").fails(413, "102400")
		w.do("POST", path, strings.Repeat("x", 5<<20)).fails(413)
	}
	if runs := len(w.triggers.runs); runs != 2 {
		t.Errorf("%d triggers ran, want 2", runs)
	}
}

// TestTruncatedBody speaks HTTP by hand: the client announces more than it sends.
func TestTruncatedBody(t *testing.T) {
	w := start(t, nil)
	for name, sent := range map[string]string{
		"length":  "POST /api/triggers/ntfy/one HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{\"name\":",
		"chunked": "POST /api/triggers/ntfy/one HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"nam\r\nzz\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, sent)
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		conn.Close()
		if resp.StatusCode != 400 {
			t.Errorf("%s: status %d", name, resp.StatusCode)
		}
	}
	if len(w.triggers.runs) > 0 {
		t.Error("a trigger ran with half a body")
	}
}

// TestRedactionLeavesNames: a secret that is an everyday word, such as "name", does not change names or JSON.
func TestRedactionLeavesNames(t *testing.T) {
	p, err := shown()
	if err != nil {
		t.Fatal(err)
	}
	w := startWith(t, p, nil, func(o *testOptions) {
		o.Redact = strings.NewReplacer("name", "***", "true", "***", "nginx", "***").Replace
	})
	c := nginx()
	c.Error = &sdk.ContainerError{Message: "login with nginx refused"}
	w.put(c)
	w.commitEvents(updateOf(c))
	same(t, "name", w.get("/api/containers").want(200).names(), []string{"nginx"})
	e := w.get("/api/events").want(200).list()[0]
	same(t, "its name", at(e, "container.name"), any("nginx"))
	same(t, "its error", at(e, "container.error.message"), any("login with *** refused"))
	w.get("/api/triggers").want(200)
	w.get("/api/ready").want(503)
	w.get("/nope?name=x").fails(404)
}

// FuzzBody: errors about a body never contain the names of Go types.
func FuzzBody(f *testing.F) {
	for _, body := range []string{`{}`, `{"name":1}`, `[`, `{"labels":[]}`, `{"result":{"created":"x"}}`,
		`{"updateAvailable":1e999}`, `{"image":{"tag":7}}`, "\xff", `{"check":{"at":5}}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var c sdk.Container
		err := json.Unmarshal([]byte(body), &c)
		if err == nil {
			return
		}
		detail, _ := explainJSON(err)
		for _, internal := range []string{"json: ", "Go ", "sdk.", "struct field"} {
			if strings.Contains(detail, internal) && !strings.Contains(body, internal) {
				t.Errorf("%q: %s", body, detail)
			}
		}
	})
}
