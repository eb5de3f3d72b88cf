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
	return map[string]any{
		"url": url, "topic": "updates", "auth.token": "recognisable-token",
		"actions": `http, Restart, https://example.org/hooks/recognisable-hook, headers.Authorization=Bearer recognisable-bearer, body="recognisable-body"`,
	}
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
			{Field: "icon", Set: map[string]any{"icon": "ftp://host/icon.png"}},
			{Field: "click", Set: map[string]any{"click": "example.org"}},
			{Field: "delay", Set: map[string]any{"delay": "9am", "email": "ana@example.org"}},
			{Field: "actions", Set: map[string]any{"actions": "recognisable-action"}},
		},
	})
}

// sent is what arrived at a server.
type sent struct {
	method, path string
	header       http.Header
	body         []byte
}

// checkMessage refuses what a server would refuse.
func checkMessage(t *testing.T, payload []byte) {
	t.Helper()
	var m struct {
		Topic, Title, Message, Click, Icon, Attach, Filename, Email, Delay, Call string
		Priority                                                                 int
		Tags                                                                     []string
		Markdown                                                                 bool
		Actions                                                                  []struct {
			Action, Label, URL, Method, Body, Intent, Value string
			Clear                                           bool
			Headers, Extras                                 map[string]string
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		t.Errorf("%v: %s", err, payload)
	}
	if m.Topic == "" || m.Priority < 0 || m.Priority > 5 || len(m.Message) > maxMessageBytes || len(m.Actions) > 3 || m.Email != "" && m.Delay != "" {
		t.Errorf("the server refuses %s", payload)
	}
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
		checkMessage(t, body)
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

func TestEverythingElse(t *testing.T) {
	got := run(t, map[string]any{
		"icon": "https://example.org/dog.png", "click": "https://dogwatch.example.org", "markdown": true, "delay": "30m",
		"actions": "view, Open, https://dogwatch.example.org; broadcast, Picture, extras.cmd=pic",
	}, triggertest.Request("nginx"))
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, got.body, "", "  "); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "everything.json", pretty.String()+"\n")
	if got := string(run(t, map[string]any{"email": "ana@example.org"}, triggertest.Request("nginx")).body); !strings.Contains(got, `"email":"ana@example.org"`) {
		t.Error(got)
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

// A tap opens the release notes, or what the operator wants.
func TestClick(t *testing.T) {
	req := triggertest.Request("nginx")
	if got := string(run(t, nil, req).body); !strings.Contains(got, `"click":"https://example.org/nginx/1.27.0"`) {
		t.Error(got)
	}
	if got := string(run(t, map[string]any{"click": "mailto:ana@example.org"}, req).body); !strings.Contains(got, `"click":"mailto:ana@example.org"`) {
		t.Error(got)
	}
}

// Whatever the text, the server takes the payload.
func FuzzPayloadSize(f *testing.F) {
	f.Add("title", "body")
	f.Add(strings.Repeat("\x00", 300), strings.Repeat("\x01", 5000))
	f.Fuzz(func(t *testing.T, title, body string) {
		m, err := (&ntfy{}).body(trigger.Request{Title: title, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		payload, err := httpclient.EncodeJSON(m)
		if err != nil || len(m.Message) > maxMessageBytes || len(payload) > maxPayloadBytes {
			t.Errorf("%d bytes of message, %d of payload, %v", len(m.Message), len(payload), err)
		}
	})
}
