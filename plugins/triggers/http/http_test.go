package http

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	nethttp "net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func options(address string) map[string]any {
	return map[string]any{
		"url": address + "/hooks/recognisable-hook?key=recognisable-key", "auth.user": "ana", "auth.password": "recognisable-password",
		"headers": "X-Api-Key=recognisable-header",
	}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return options(plugintest.Answering(t, nethttp.StatusOK)) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(options),
		Invalid: []triggertest.Invalid{
			{Field: "url", Set: map[string]any{"url": "ftp://recognisable-host/"}},
			{Field: "method", Set: map[string]any{"method": "PO ST"}},
			{Field: "method", Set: map[string]any{"method": "CONNECT"}},
			{Field: "auth.type", Set: map[string]any{"auth.bearer": "recognisable-bearer"}},
			{Field: "auth.bearer", Set: map[string]any{"auth.type": "bearer"}},
			{Field: "auth.user", Set: map[string]any{"auth.type": "basic", "auth.user": nil, "auth.password": nil}},
			{Field: "headers", Set: map[string]any{"headers": "no-value"}},
			{Field: "headers", Set: map[string]any{"headers": "b ad=recognisable-value"}},
			{Field: "headers", Set: map[string]any{"headers": []any{"A=recognisable\r\nB: value"}}},
		},
	})
}

// sent is what arrived at a server.
type sent struct {
	method, path, host string
	header             nethttp.Header
	body               []byte
}

// run delivers one request with options and returns what was sent.
func run(t *testing.T, path string, set map[string]any, req trigger.Request) sent {
	t.Helper()
	arrived := make(chan sent, 1)
	server := httptest.NewServer(nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		arrived <- sent{r.Method, r.URL.String(), r.Host, r.Header, body}
	}))
	t.Cleanup(server.Close)
	all := map[string]any{"url": server.URL + path}
	maps.Copy(all, set)
	h, err := Type().New(sdk.Env{UserAgent: "dogwatch/test"}, all)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Run(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := h.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	return <-arrived
}

func TestPayloads(t *testing.T) {
	for name, req := range golden.Requests() {
		t.Run(name, func(t *testing.T) {
			got := run(t, "/hook?a=1", nil, req)
			if got.method != "POST" || got.path != "/hook?a=1" || got.header.Get("Content-Type") != "application/json" || got.header.Get("Idempotency-Key") != "delivery-1" {
				t.Errorf("%s %s %v", got.method, got.path, got.header)
			}
			checkContainers(t, got.body, req)
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, got.body, "", "  "); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+".json", pretty.String()+"\n")
		})
	}
}

// checkContainers compares a body with the JSON form that the HTTP interface shows.
func checkContainers(t *testing.T, body []byte, req trigger.Request) {
	t.Helper()
	var want []byte
	if req.Batch {
		want, _ = json.Marshal(req.Containers)
	} else {
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
			got := run(t, "/hook?kept=%20as+is", map[string]any{"method": "get"}, req)
			if got.method != "GET" || len(got.body) > 0 || got.header.Get("Content-Type") != "" {
				t.Errorf("%s %v %s", got.method, got.header, got.body)
			}
			rest, kept := strings.CutPrefix(got.path, "/hook?kept=%20as+is&")
			values, err := url.ParseQuery(rest)
			if !kept || err != nil {
				t.Fatalf("%s: %v", got.path, err)
			}
			golden.Check(t, name+".query", strings.ReplaceAll(rest, "&", "\n")+"\n")
			if name == "simple" && (values.Get("image[tag][value]") != "1.25.3" || values.Get("updateAvailable") != "true" || values.Get("labels[com.example.team]") != "web") {
				t.Errorf("%v", values)
			}
			if name == "batch" && values.Get("1[name]") != "redis" {
				t.Errorf("%v", values)
			}
		})
	}
	if got := run(t, "/", map[string]any{"method": "GET"}, trigger.Request{Batch: true}); got.path != "/" {
		t.Errorf("an empty batch adds to the query: %s", got.path)
	}
}

func TestMethods(t *testing.T) {
	req := triggertest.Request("nginx")
	for _, method := range []string{"PUT", "patch", "DELETE"} {
		got := run(t, "/", map[string]any{"method": method}, req)
		if got.method != strings.ToUpper(method) {
			t.Errorf("%s became %s", method, got.method)
		}
		checkContainers(t, got.body, req)
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
		got := run(t, "/", test.set, triggertest.Request("nginx"))
		if got.header.Get(test.header) != test.want || test.host != "" && got.host != test.host {
			t.Errorf("%v: %s: %q, host %s", test.set, test.header, got.header.Get(test.header), got.host)
		}
	}
}

func TestURLUserLogsIn(t *testing.T) {
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if user, password, _ := r.BasicAuth(); user != "ana" || password != "s3cret" {
			w.WriteHeader(nethttp.StatusUnauthorized)
			_, _ = io.WriteString(w, password)
		}
	}))
	t.Cleanup(server.Close)
	run := func(user string) error {
		h, err := Type().New(sdk.Env{}, map[string]any{"url": strings.Replace(server.URL, "http://", "http://"+user, 1)})
		if err != nil {
			t.Fatal(err)
		}
		return h.Run(t.Context(), triggertest.Request("nginx"))
	}
	if err := run("ana:s3cret@"); err != nil {
		t.Error(err)
	}
	if err := run("ana:wr0ng-s3cret@"); !errors.Is(err, sdk.ErrUnauthorized) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("wrong password: %v", err)
	}
}
