// Package sink fakes the services that triggers send to: a test says what the
// service refuses, and sees what it was sent.
package sink

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Call is one request that arrived.
type Call struct {
	Method string
	// URI is the path and the query as they were sent; through a proxy, the whole address.
	URI    string
	Host   string
	Header http.Header
	Body   []byte
}

// Strict reads the body into v, a struct of all the fields that the service
// documents, and returns what is wrong with it; "" for nothing.
func (c Call) Strict(v any) string {
	d := json.NewDecoder(bytes.NewReader(c.Body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err.Error()
	}
	return ""
}

// Pretty is the body as indented JSON, for a golden file.
func (c Call) Pretty(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, c.Body, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, c.Body)
	}
	return b.String() + "\n"
}

// Sink is a server that records its calls.
type Sink struct {
	URL   string
	mu    sync.Mutex
	calls []Call
}

// New serves until the end of t. respond returns the status and the body of the
// response to a call.
func New(t testing.TB, respond func(Call) (status int, body string)) *Sink {
	t.Helper()
	return Serve(t, func(w http.ResponseWriter, c Call) {
		status, text := respond(c)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
}

// Serve is New for a service whose responses have headers.
func Serve(t testing.TB, respond func(http.ResponseWriter, Call)) *Sink {
	t.Helper()
	s := &Sink{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller gave up
		}
		call := Call{Method: r.Method, URI: r.RequestURI, Host: r.Host, Header: r.Header, Body: body}
		s.mu.Lock()
		s.calls = append(s.calls, call)
		s.mu.Unlock()
		respond(w, call)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// RespondWith is a sink with the same response to every call.
func RespondWith(t testing.TB, status int, body string) *Sink {
	t.Helper()
	return New(t, func(Call) (int, string) { return status, body })
}

// Calls returns what arrived so far.
func (s *Sink) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Last returns the call that arrived last.
func (s *Sink) Last(t testing.TB) Call {
	t.Helper()
	calls := s.Calls()
	if len(calls) == 0 {
		t.Fatal("nothing was sent")
	}
	return calls[len(calls)-1]
}

// Masks compares testdata/masks.json with the configuration of an instance as
// the HTTP interface shows it, which is what WUD's clients expect to see.
func Masks(t *testing.T, typ trigger.Type, options map[string]any) {
	t.Helper()
	values, problems, unknown := typ.Options.Resolve(options)
	if len(problems)+len(unknown) > 0 {
		t.Fatalf("%v %v", problems, unknown)
	}
	shown, err := json.MarshalIndent(typ.Options.Show(values, false), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "masks.json", string(shown)+"\n")
}

// Deliver makes an instance, delivers one request and closes the instance.
func Deliver(t testing.TB, typ trigger.Type, options map[string]any, req trigger.Request) error {
	t.Helper()
	instance, err := typ.New(sdk.Env{UserAgent: "dogwatch/test"}, options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := instance.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	}()
	return instance.Run(t.Context(), req)
}
