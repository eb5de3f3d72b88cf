package ntfy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Service: service, Options: func(url string) map[string]any {
		return map[string]any{"url": url, "topic": "updates"}
	}}
}

func TestConformance(t *testing.T) {
	secretive := subject().With(map[string]any{
		"auth.token": "recognisable-token",
		"actions":    `http, Restart, https://example.org/hooks/recognisable-hook, headers.Authorization=Bearer recognisable-bearer, body="recognisable-body"`,
	})
	triggertest.Run(t, Type(), secretive.Case([]triggertest.Invalid{
		{Field: "topic", Set: map[string]any{"topic": "a/b"}},
		{Field: "topic", Set: map[string]any{"topic": strings.Repeat("x", 65)}},
		{Field: "auth.user", Set: map[string]any{"auth.token": nil, "auth.password": "password"}},
		{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
		{Field: "proxy", Set: map[string]any{"proxy": "ftp://host"}},
		{Field: "icon", Set: map[string]any{"icon": "ftp://host/icon.png"}},
		{Field: "click", Set: map[string]any{"click": "example.org"}},
		{Field: "click", Set: map[string]any{"click": "mailto:ana@example.org"}},
		{Field: "delay", Set: map[string]any{"delay": "9am", "email": "ana@example.org"}},
		{Field: "actions", Set: map[string]any{"actions": "recognisable-action"}},
	}))
}

// service plays an ntfy server: it refuses what one refuses.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		if problem := wrong(c); problem != "" {
			return http.StatusBadRequest, fmt.Sprintf(`{"code":40024,"http":400,"error":%q}`, problem)
		}
		return http.StatusOK, `{"id":"1"}`
	})
}

// wrong says what is wrong with a request, by the documentation of publishing.
func wrong(c sink.Call) string {
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
	switch problem := c.Strict(&m); {
	case problem != "":
		return problem
	case c.Method != "POST" || c.URI != "/" || c.Header.Get("Content-Type") != "application/json" ||
		c.Header.Get("User-Agent") != "dogwatch/test":
		return "address or header"
	case m.Topic == "" || m.Priority < 0 || m.Priority > 5 || len(m.Actions) > 3 || m.Email != "" && m.Delay != "":
		return "message"
	case len(m.Message) > maxMessageBytes || len(c.Body) > maxPayloadBytes:
		return "size"
	}
	return ""
}

func TestPayloads(t *testing.T) {
	subject().With(map[string]any{"priority": 4, "tags": "whale,package"}).Payloads(t, "*.json")
}

func TestUrgentPriority(t *testing.T) {
	for typ, priorities := range map[string]map[int]string{
		trigger.UpdateRolledBack: {0: "4", 1: "4", 5: "5"}, trigger.UpdateApplied: {1: "1"},
	} {
		for set, want := range priorities {
			req := trigger.Request{Title: "T", Body: "B", Batch: true, Event: &trigger.Event{Type: typ}}
			got := subject().With(map[string]any{"priority": set}).Send(t, req)
			if !strings.Contains(got.Pretty(t), `"priority": `+want) {
				t.Errorf("%s with priority %d: %s", typ, set, got.Pretty(t))
			}
		}
	}
}

func TestEverythingElse(t *testing.T) {
	got := subject().With(map[string]any{
		"icon": "https://example.org/dog.png", "click": "https://dogwatch.example.org", "markdown": true, "delay": "30m",
		"actions": "view, Open, https://dogwatch.example.org; broadcast, Picture, extras.cmd=pic",
	}).Send(t, triggertest.Request("nginx"))
	golden.Check(t, "everything.json", got.Pretty(t))
}

func TestOptions(t *testing.T) {
	subject().Bodies(t, trigger.Request{Title: "T", Body: "B"}, map[string]sink.Body{
		"none":        {URI: "/", Want: `{"topic":"updates","title":"T","message":"B"}`},
		"no priority": {Set: map[string]any{"priority": 0}, Want: `{"topic":"updates","title":"T","message":"B"}`},
		"priority": {
			Set: map[string]any{"priority": "5"}, Want: `{"topic":"updates","title":"T","message":"B","priority":5}`,
		},
		"email": {
			Set:  map[string]any{"email": "ana@example.org"},
			Want: `{"topic":"updates","title":"T","message":"B","email":"ana@example.org"}`,
		},
	})
}

// A tap opens the release notes, or what the operator wants.
func TestClick(t *testing.T) {
	req := trigger.Request{Title: "T", Body: "B", Containers: []sdk.Container{triggertest.Container("nginx")}}
	subject().Bodies(t, req, map[string]sink.Body{
		"notes": {Want: `{"topic":"updates","title":"T","message":"B","click":"https://example.org/nginx/1.27.0"}`},
		"set": {Set: map[string]any{"click": "https://dogwatch.example.org/"},
			Want: `{"topic":"updates","title":"T","message":"B","click":"https://dogwatch.example.org/"}`},
	})
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
		if got := subject().With(test.set).Send(t,
			triggertest.Request("nginx")).Header.Get("Authorization"); got != test.want {
			t.Errorf("%v: %q, want %q", test.set, got, test.want)
		}
	}
}

// Whatever the text, the server takes the payload.
func FuzzPayloadSize(f *testing.F) {
	f.Add("title", "body")
	f.Add(strings.Repeat("\x00", 300), strings.Repeat("\x01", 5000))
	f.Fuzz(func(t *testing.T, title, text string) {
		m, err := body{}.with(trigger.Request{Title: title, Body: text})
		if err != nil {
			t.Fatal(err)
		}
		payload, err := httpclient.EncodeJSON(m)
		if err != nil || len(m.Message) > maxMessageBytes || len(payload) > maxPayloadBytes {
			t.Errorf("%d bytes of message, %d of payload, %v", len(m.Message), len(payload), err)
		}
	})
}
