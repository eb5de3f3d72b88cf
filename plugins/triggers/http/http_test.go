package http

import (
	"bytes"
	"encoding/json"
	"errors"
	nethttp "net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

// subject is a hook that takes everything.
func subject() sink.Subject {
	return sink.Subject{
		Type:    Type(),
		Options: func(url string) map[string]any { return map[string]any{"url": url} },
		Service: func(t testing.TB) *sink.Sink { return sink.RespondWith(t, nethttp.StatusOK, "") },
	}
}

func TestConformance(t *testing.T) {
	secretive := subject().At("/hooks/recognisable-hook?key=recognisable-key").With(map[string]any{
		"auth.user": "ana", "auth.password": "recognisable-password", "headers": "X-Api-Key=recognisable-header",
	})
	triggertest.Run(t, Type(), secretive.Case([]triggertest.Invalid{
		{Field: "url", Set: map[string]any{"url": "ftp://recognisable-host/"}},
		{Field: "method", Set: map[string]any{"method": "PO ST"}},
		{Field: "method", Set: map[string]any{"method": "CONNECT"}},
		{Field: "auth.type", Set: map[string]any{"auth.bearer": "recognisable-bearer"}},
		{Field: "auth.bearer", Set: map[string]any{"auth.type": "bearer"}},
		{Field: "auth.user", Set: map[string]any{"auth.type": "basic", "auth.user": nil, "auth.password": nil}},
		{Field: "headers", Set: map[string]any{"headers": "no-value"}},
		{Field: "headers", Set: map[string]any{"headers": "b ad=recognisable-value"}},
		{Field: "headers", Set: map[string]any{"headers": []any{"A=recognisable\r\nB: value"}}},
	}))
}

func TestPayloads(t *testing.T) {
	subject().At("/hook?a=1").Payloads(t, "*.json", func(t *testing.T, c sink.Call, req trigger.Request) {
		if c.Method != "POST" || c.URI != "/hook?a=1" || c.Header.Get("Content-Type") != "application/json" ||
			c.Header.Get("Idempotency-Key") != req.Delivery {
			t.Errorf("%s %s %v", c.Method, c.URI, c.Header)
		}
		checkContainers(t, c.Body, req)
	})
}

// checkContainers compares a body with the JSON form that the HTTP interface shows.
func checkContainers(t *testing.T, body []byte, req trigger.Request) {
	t.Helper()
	var want []byte
	switch {
	case req.Event != nil:
		want, _ = json.Marshal(map[string]any{
			"event": req.Event.Type, "watcher": req.Event.Watcher, "error": req.Event.Error, "since": req.Event.Since,
			"at":    req.Event.At,
			"title": req.Title, "body": req.Body,
		})
	case req.Batch:
		want, _ = json.Marshal(req.Containers)
	default:
		want, _ = json.Marshal(req.Containers[0])
	}
	var gotValue, wantValue any
	if json.Unmarshal(body, &gotValue) != nil || json.Unmarshal(want, &wantValue) != nil {
		t.Fatalf("no JSON: %s", body)
	}
	got, _ := json.Marshal(gotValue)
	if want, _ = json.Marshal(wantValue); !bytes.Equal(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestQueries(t *testing.T) {
	for name, req := range golden.Requests() {
		if name == "long" {
			continue // no server takes it
		}
		t.Run(name, func(t *testing.T) {
			got := subject().At("/hook?kept=%20as+is").With(map[string]any{"method": "get"}).Send(t, req)
			if got.Method != "GET" || len(got.Body) > 0 || got.Header.Get("Content-Type") != "" {
				t.Errorf("%s %v %s", got.Method, got.Header, got.Body)
			}
			rest, kept := strings.CutPrefix(got.URI, "/hook?kept=%20as+is&")
			values, err := url.ParseQuery(rest)
			if !kept || err != nil {
				t.Fatalf("%s: %v", got.URI, err)
			}
			golden.Check(t, name+".query", strings.ReplaceAll(rest, "&", "\n")+"\n")
			if name == "simple" &&
				(values.Get("image[tag][value]") != "1.25.3" || values.Get("updateAvailable") != "true" ||
					values.Get("labels[com.example.team]") != "web") {
				t.Errorf("%v", values)
			}
			if name == "batch" && values.Get("1[name]") != "redis" {
				t.Errorf("%v", values)
			}
		})
	}
	if got := subject().At("/").With(map[string]any{"method": "GET"}).Send(t, trigger.Request{
		Batch: true,
	}); got.URI != "/" {
		t.Errorf("an empty batch adds to the query: %s", got.URI)
	}
}

func TestMethods(t *testing.T) {
	req := triggertest.Request("nginx")
	for _, method := range []string{"PUT", "patch", "DELETE"} {
		got := subject().At("/").With(map[string]any{"method": method}).Send(t, req)
		if got.Method != strings.ToUpper(method) {
			t.Errorf("%s became %s", method, got.Method)
		}
		checkContainers(t, got.Body, req)
	}
}

func TestHeaders(t *testing.T) {
	tests := []struct {
		set                map[string]any
		header, want, host string
	}{
		{nil, "Authorization", "", ""},
		{map[string]any{"auth.user": "ana", "auth.password": "pw"}, "Authorization", "Basic YW5hOnB3", ""},
		{map[string]any{"auth.type": "basic", "auth.user": "ana", "auth.bearer": "t"}, "Authorization", "Basic YW5hOg==", ""},
		{map[string]any{"auth.type": "Bearer", "auth.bearer": "tok"}, "Authorization", "Bearer tok", ""},
		{map[string]any{"auth.bearer": "tok"}, "Authorization", "Bearer tok", ""},
		{map[string]any{"headers": "x-a=1, X-B = two=2"}, "X-B", "two=2", ""},
		{map[string]any{"headers": []any{"X-C=a, b"}}, "X-C", "a, b", ""},
		{map[string]any{"headers": "Content-Type=application/vnd.x+json"}, "Content-Type", "application/vnd.x+json", ""},
		{map[string]any{"headers": "Host=other.example"}, "X", "", "other.example"},
	}
	for _, test := range tests {
		got := subject().At("/").With(test.set).Send(t, triggertest.Request("nginx"))
		if got.Header.Get(test.header) != test.want || test.host != "" && got.Host != test.host {
			t.Errorf("%v: %s: %q, host %s", test.set, test.header, got.Header.Get(test.header), got.Host)
		}
	}
}

func TestURLUserLogsIn(t *testing.T) {
	door := sink.New(t, func(c sink.Call) (int, string) {
		if user, password, _ := (&nethttp.Request{Header: c.Header}).BasicAuth(); user != "ana" || password != "s3cret" {
			return nethttp.StatusUnauthorized, password
		}
		return nethttp.StatusOK, ""
	})
	try := func(user string) error {
		set := map[string]any{"url": strings.Replace(door.URL, "http://", "http://"+user, 1)}
		return sink.Deliver(t, Type(), set, triggertest.Request("nginx"))
	}
	if err := try("ana:s3cret@"); err != nil {
		t.Error(err)
	}
	if err := try("ana:wr0ng-s3cret@"); !errors.Is(err, sdk.ErrUnauthorized) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("wrong password: %v", err)
	}
}
