package ntfy

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func options(url string) map[string]any {
	return map[string]any{"url": url, "topic": "updates", "auth.token": "recognisable-token"}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return options(plugintest.Answering(t, http.StatusOK)) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(options),
		Invalid: []triggertest.Invalid{
			{Field: "topic", Set: map[string]any{"topic": "a/b"}},
			{Field: "topic", Set: map[string]any{"topic": strings.Repeat("x", 65)}},
			{Field: "auth.user", Set: map[string]any{"auth.token": nil, "auth.password": "password"}},
			{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
			{Field: "proxy", Set: map[string]any{"proxy": "ftp://host"}},
		},
	})
}

// sent is what arrived at a server.
type sent struct {
	method, path string
	header       http.Header
	body         []byte
}

// run delivers one request with options and returns what was sent.
func run(t *testing.T, set map[string]any, req trigger.Request) sent {
	t.Helper()
	arrived := make(chan sent, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		arrived <- sent{r.Method, r.URL.String(), r.Header, body}
	}))
	t.Cleanup(server.Close)
	all := map[string]any{"url": server.URL, "topic": "updates"}
	maps.Copy(all, set)
	n, err := Type().New(sdk.Env{UserAgent: "dogwatch/test"}, all)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Run(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := n.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	return <-arrived
}

func TestPayloads(t *testing.T) {
	for name, req := range golden.Requests() {
		t.Run(name, func(t *testing.T) {
			got := run(t, map[string]any{"priority": 4, "tags": "whale,package"}, req)
			if got.method != "POST" || got.path != "/" || got.header.Get("Content-Type") != "application/json" || got.header.Get("User-Agent") != "dogwatch/test" {
				t.Errorf("%s %s %v", got.method, got.path, got.header)
			}
			if len(got.body) > maxPayloadBytes {
				t.Errorf("%d bytes", len(got.body))
			}
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, got.body, "", "  "); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+".json", pretty.String()+"\n")
		})
	}
}

func TestPriority(t *testing.T) {
	for priority, want := range map[any]string{nil: "", 0: "", "5": `"priority":5`} {
		set := map[string]any{}
		if priority != nil {
			set["priority"] = priority
		}
		body := string(run(t, set, triggertest.Request("nginx")).body)
		if strings.Contains(body, "priority") != (want != "") || !strings.Contains(body, want) {
			t.Errorf("priority %v: %s", priority, body)
		}
	}
}

func TestAuth(t *testing.T) {
	tests := []struct {
		set  map[string]any
		want string
	}{
		{nil, ""},
		{map[string]any{"auth.user": "ana", "auth.password": "pw"}, "Basic YW5hOnB3"},
		{map[string]any{"auth.token": "tk_1"}, "Bearer tk_1"},
		{map[string]any{"auth.user": "ana", "auth.password": "pw", "auth.token": "tk_1"}, "Bearer tk_1"},
	}
	for _, test := range tests {
		if got := run(t, test.set, triggertest.Request("nginx")).header.Get("Authorization"); got != test.want {
			t.Errorf("%v: %q, want %q", test.set, got, test.want)
		}
	}
}

func TestClick(t *testing.T) {
	linked := func(link string) trigger.Request {
		return trigger.Request{Containers: []sdk.Container{{Result: &sdk.Result{Link: link}}}}
	}
	batch := linked("https://a")
	batch.Batch = true
	simulated := trigger.Request{Containers: []sdk.Container{{UpdateKind: sdk.UpdateKind{Result: &sdk.Result{Link: "https://s"}}}}}
	tests := map[string]struct {
		req  trigger.Request
		want string
	}{
		"link":      {linked("https://a"), "https://a"},
		"none":      {linked(""), ""},
		"script":    {linked("javascript:alert(1)"), ""},
		"long":      {linked("https://" + strings.Repeat("x", maxClick)), ""},
		"batch":     {batch, ""},
		"simulated": {simulated, "https://s"},
		"nothing":   {trigger.Request{Containers: []sdk.Container{{}}}, ""},
	}
	for name, test := range tests {
		if got := click(test.req); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Whatever the text, the server takes the payload.
func FuzzPayloadSize(f *testing.F) {
	f.Add("title", "body")
	f.Add(strings.Repeat("\x00", 300), strings.Repeat("\x01", 5000))
	f.Fuzz(func(t *testing.T, title, body string) {
		m, err := (&ntfy{topic: "t"}).message(trigger.Request{Title: title, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		payload, err := httpclient.EncodeJSON(m)
		if err != nil || len(m.Message) > maxMessageBytes || len(payload) > maxPayloadBytes {
			t.Errorf("%d bytes of message, %d of payload, %v", len(m.Message), len(payload), err)
		}
	})
}
