package googlechat

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const (
	path  = "/v1/spaces/AAAAspace/messages"
	query = "?key=recognisable-key&token=recognisable%3Dtoken"
)

func options(url string) map[string]any { return map[string]any{"url": url + path + query} }

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return options(service(t).URL) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(options),
		Invalid: []triggertest.Invalid{
			{Field: "url", Set: map[string]any{"url": "ftp://host/recognisable"}},
			{Field: "threadkey", Set: map[string]any{"threadkey": strings.Repeat("x", 4001)}},
			{Field: "messagereplyoption", Set: map[string]any{"messagereplyoption": "never"}},
			{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
		},
	})
}

// service plays Google Chat: it refuses what Google Chat refuses.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		if problem := wrong(c); problem != "" {
			return http.StatusBadRequest, `{"error":{"code":400,"message":"` + problem + `","status":"INVALID_ARGUMENT"}}`
		}
		return http.StatusOK, `{"name":"spaces/AAAAspace/messages/1"}`
	})
}

// wrong says what is wrong with a request, by the documentation of spaces.messages.create.
func wrong(c sink.Call) string {
	var m struct {
		Text   string `json:"text"`
		Thread *struct {
			ThreadKey string `json:"threadKey"`
		} `json:"thread"`
	}
	problem := c.Strict(&m)
	u, err := url.Parse(c.URI)
	switch {
	case problem != "":
		return problem
	case err != nil || c.Method != "POST" || u.Path != path:
		return "address"
	case u.Query().Get("key") != "recognisable-key" || u.Query().Get("token") != "recognisable=token":
		return "credentials"
	case len(c.Body) > 32_000 || len(utf16.Encode([]rune(m.Text))) > 4096:
		return "Message is longer than 4096 characters"
	case strings.TrimSpace(m.Text) == "":
		return "Message cannot be empty"
	case (m.Thread != nil) != u.Query().Has("messageReplyOption"):
		return "a thread without a reply option"
	}
	for name := range u.Query() {
		if !strings.Contains("key token messageReplyOption threadKey requestId messageId", name) {
			return "Unknown name: " + name
		}
	}
	return ""
}

func TestPayloads(t *testing.T) {
	for name, req := range golden.Requests() {
		t.Run(name, func(t *testing.T) {
			s := service(t)
			if err := sink.Deliver(t, Type(), options(s.URL), req); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+".json", s.Last(t).Pretty(t))
		})
	}
}

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		set       map[string]any
		uri, body string
	}{
		"none":   {nil, path + query, `{"text":"*T*\n\nB"}`},
		"title":  {map[string]any{"disabletitle": true}, path + query, `{"text":"B"}`},
		"option": {map[string]any{"messagereplyoption": "reply_message_or_fail"}, path + query, `{"text":"*T*\n\nB"}`},
		"thread": {map[string]any{"threadkey": "updates"}, path + "?key=recognisable-key&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&token=recognisable%3Dtoken",
			`{"text":"*T*\n\nB","thread":{"threadKey":"updates"}}`},
		"thread or fail": {map[string]any{"threadkey": "updates", "messagereplyoption": "reply_message_or_fail"},
			path + "?key=recognisable-key&messageReplyOption=REPLY_MESSAGE_OR_FAIL&token=recognisable%3Dtoken", `{"text":"*T*\n\nB","thread":{"threadKey":"updates"}}`},
	}
	for name, test := range tests {
		s := service(t)
		all := options(s.URL)
		for option, value := range test.set {
			all[option] = value
		}
		if err := sink.Deliver(t, Type(), all, trigger.Request{Title: "T", Body: "B"}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := s.Last(t); got.URI != test.uri || string(got.Body) != test.body {
			t.Errorf("%s: %s %s", name, got.URI, got.Body)
		}
	}
}

func TestLimits(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"fits":  {strings.Repeat("é", 4091), "*T*\n\n" + strings.Repeat("é", 4091)},
		"cut":   {strings.Repeat("é", 4092), "*T*\n\n" + strings.Repeat("é", 4090) + "…"},
		"pairs": {strings.Repeat("🐕", 2046), "*T*\n\n" + strings.Repeat("🐕", 2045) + "…"},
	}
	for name, test := range tests {
		if got := text(chat.Message{Title: "T", Body: test.body}); got != test.want {
			t.Errorf("%s: %d characters", name, len([]rune(got)))
		}
	}
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		status int
		answer string
		kind   error
		option string
		want   string
	}{
		"key": {400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`,
			sdk.ErrUnauthorized, "", "API key not valid. Please pass a valid API key.; check url"},
		"token":  {403, `{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED"}}`, sdk.ErrUnauthorized, "", "PERMISSION_DENIED: The caller does not have permission; check url"},
		"space":  {404, `{"error":{"code":404,"message":"Space not found","status":"NOT_FOUND"}}`, nil, "url", "Space not found"},
		"text":   {400, `{"error":{"code":400,"message":"Message is longer than 4096 characters","status":"INVALID_ARGUMENT"}}`, nil, "", "longer than 4096"},
		"server": {500, `{"error":{"code":500,"message":"Internal error","status":"INTERNAL"}}`, sdk.ErrUnavailable, "", "Internal error"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := sink.Deliver(t, Type(), options(sink.Says(t, test.status, test.answer).URL), triggertest.Request("nginx"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q in it", err, test.want)
			}
			var invalid *sdk.InvalidError
			if test.kind != nil {
				if !errors.Is(err, test.kind) {
					t.Errorf("%#v", err)
				}
			} else if !errors.As(err, &invalid) || invalid.Fields[0].Field != test.option {
				t.Errorf("%#v", err)
			}
		})
	}
	err := sink.Deliver(t, Type(), options(sink.Says(t, 429, `{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED"}}`).URL), triggertest.Request("nginx"))
	var limited *sdk.RateLimitedError
	if !errors.As(err, &limited) || limited.After != time.Duration(0) || !strings.Contains(err.Error(), "Quota exceeded") {
		t.Errorf("%#v", err)
	}
}

func FuzzText(f *testing.F) {
	f.Add("title", "body")
	f.Fuzz(func(t *testing.T, title, body string) {
		got := text(chat.Of(trigger.Request{Title: title, Body: body}, false))
		if n := len(utf16.Encode([]rune(got))); n > maxText || strings.TrimSpace(got) == "" {
			t.Errorf("%d characters", n)
		}
	})
}
