package googlechat

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const (
	path  = "/v1/spaces/AAAAspace/messages"
	query = "?key=recognisable-key&token=recognisable%3Dtoken"
)

func options(url string) map[string]any { return map[string]any{"url": url + path + query} }

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Options: options, Service: service}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), subject().Case([]triggertest.Invalid{
		{Field: "url", Set: map[string]any{"url": "ftp://host/recognisable"}},
		{Field: "threadkey", Set: map[string]any{"threadkey": strings.Repeat("x", 4001)}},
		{Field: "messagereplyoption", Set: map[string]any{"messagereplyoption": "never"}},
		{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
	}))
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
	case len(c.Body) > 32_000 || sink.UTF16(m.Text) > 4096:
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

func TestPayloads(t *testing.T) { subject().Payloads(t, "*.json") }

func TestOptions(t *testing.T) {
	const (
		keyed = path + "?key=recognisable-key&messageReplyOption="
		token = "&token=recognisable%3Dtoken"
	)
	subject().Bodies(t, trigger.Request{Title: "T", Body: "B"}, map[string]sink.Body{
		"none":  {URI: path + query, Want: `{"text":"*T*\n\nB"}`},
		"title": {Set: map[string]any{"disabletitle": true}, URI: path + query, Want: `{"text":"B"}`},
		"option": {
			Set: map[string]any{"messagereplyoption": "reply_message_or_fail"}, URI: path + query, Want: `{"text":"*T*\n\nB"}`,
		},
		"thread": {Set: map[string]any{"threadkey": "updates"}, URI: keyed + "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD" + token,
			Want: `{"text":"*T*\n\nB","thread":{"threadKey":"updates"}}`},
		"thread or fail": {Set: map[string]any{"threadkey": "updates", "messagereplyoption": "reply_message_or_fail"},
			URI:  keyed + "REPLY_MESSAGE_OR_FAIL" + token,
			Want: `{"text":"*T*\n\nB","thread":{"threadKey":"updates"}}`},
	})
}

func TestLimits(t *testing.T) {
	long := func(body string) string { return text(chat.Message{Title: "T", Body: body}, "") }
	sink.Cuts(t, long, map[string]sink.Cut{
		"fits":  {Body: strings.Repeat("é", 4091), Want: "*T*\n\n" + strings.Repeat("é", 4091)},
		"cut":   {Body: strings.Repeat("é", 4092), Want: "*T*\n\n" + strings.Repeat("é", 4090) + "…"},
		"pairs": {Body: strings.Repeat("🐕", 2046), Want: "*T*\n\n" + strings.Repeat("🐕", 2045) + "…"},
	})
}

func TestServiceErrors(t *testing.T) {
	subject().ServiceErrors(t, map[string]sink.ServiceError{
		"key": {
			Status:   400,
			Response: `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`, Kind: sdk.ErrUnauthorized, Want: "API key not valid. Please pass a valid API key.; check url",
		},
		"token": {
			Status:   403,
			Response: `{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED"}}`, Kind: sdk.ErrUnauthorized, Want: "PERMISSION_DENIED: The caller does not have permission; check url",
		},
		"space": {
			Status: 404, Response: `{"error":{"code":404,"message":"Space not found","status":"NOT_FOUND"}}`,
			Option: "url", Want: "Space not found",
		},
		"text": {
			Status:   400,
			Response: `{"error":{"code":400,"message":"Message is longer than 4096 characters","status":"INVALID_ARGUMENT"}}`, Want: "longer than 4096",
		},
		"server": {
			Status: 500, Response: `{"error":{"code":500,"message":"Internal error","status":"INTERNAL"}}`,
			Kind: sdk.ErrUnavailable, Want: "Internal error",
		},
		"quota": {
			Status: 429, Response: `{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED"}}`,
			Kind: sdk.RateLimited(0, nil), Want: "Quota exceeded",
		},
	})
}

func FuzzText(f *testing.F) {
	sink.FuzzText(f, maxText, sink.UTF16, func(req trigger.Request) string { return text(chat.Of(req, false), "") })
}
