package rocketchat

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const (
	user  = "recognisable-user"
	token = "recognisable-token"
)

func options(url string) map[string]any {
	return map[string]any{"url": url, "user.id": user, "auth.token": token, "channel": "#updates"}
}

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Options: options, Service: service}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), subject().Case([]triggertest.Invalid{
		{Field: "url", Set: map[string]any{"url": "ftp://chat.example.org"}},
		{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
	}))
}

func TestMasks(t *testing.T) {
	sink.Masks(t, Type(), options("https://chat.example.org"))
}

// service plays Rocket.Chat: it refuses what Rocket.Chat refuses.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		switch problem := wrong(c); {
		case c.Header.Get("X-User-Id") != user || c.Header.Get("X-Auth-Token") != token:
			return http.StatusUnauthorized, `{"status":"error","message":"You must be logged in to do this."}`
		case problem != "":
			return http.StatusBadRequest, `{"success":false,"error":"` + problem + `"}`
		}
		return http.StatusOK, `{"ts":1,"channel":"updates","message":{},"success":true}`
	})
}

// wrong says what is wrong with a request, by the documentation of chat.postMessage.
func wrong(c sink.Call) string {
	var m struct {
		Channel   string  `json:"channel"`
		RoomID    *string `json:"roomId"`
		Text      string  `json:"text"`
		Alias     *string `json:"alias"`
		Avatar    *string `json:"avatar"`
		Emoji     *string `json:"emoji"`
		ParseURLs *bool   `json:"parseUrls"`
	}
	switch problem := c.Strict(&m); {
	case problem != "":
		return "error-invalid-params"
	case c.Method != "POST" || c.URI != "/api/v1/chat.postMessage":
		return "error-invalid-method"
	case m.Channel != "#updates":
		return "invalid-channel"
	case strings.TrimSpace(m.Text) == "" || sink.UTF16(m.Text) > 5000:
		return "error-message-size-exceeded"
	}
	return ""
}

func TestPayloads(t *testing.T) { subject().At("/").Payloads(t, "*.json") }

func TestOptions(t *testing.T) {
	subject().Bodies(t, trigger.Request{Title: "T", Body: "B"}, map[string]sink.Body{
		"none":  {Want: `{"channel":"#updates","text":"T\n\nB"}`},
		"title": {Set: map[string]any{"disabletitle": true}, Want: `{"channel":"#updates","text":"B"}`},
		"looks": {
			Set:  map[string]any{"alias": "Dog", "avatar": "https://a", "emoji": ":dog:"},
			Want: `{"channel":"#updates","text":"T\n\nB","alias":"Dog","avatar":"https://a","emoji":":dog:"}`,
		},
		"parse": {
			Set: map[string]any{"parse.urls": "true"}, Want: `{"channel":"#updates","text":"T\n\nB","parseUrls":true}`,
		},
		"no parse": {
			Set: map[string]any{"parse.urls": "false"}, Want: `{"channel":"#updates","text":"T\n\nB","parseUrls":false}`,
		},
		"trimmed": {
			Set:  map[string]any{"user.id": user + "\n", "auth.token": " " + token, "channel": " #updates"},
			Want: `{"channel":"#updates","text":"T\n\nB"}`,
		},
	})
}

func TestLimits(t *testing.T) {
	long := func(body string) string { return text(chat.Message{Title: "T", Body: body}, "") }
	sink.Cuts(t, long, map[string]sink.Cut{
		"fits":  {Body: strings.Repeat("é", 4997), Want: "T\n\n" + strings.Repeat("é", 4997)},
		"cut":   {Body: strings.Repeat("é", 4998), Want: "T\n\n" + strings.Repeat("é", 4996) + "…"},
		"pairs": {Body: strings.Repeat("🐕", 2499), Want: "T\n\n" + strings.Repeat("🐕", 2498) + "…"},
	})
}

func TestServiceErrors(t *testing.T) {
	subject().ServiceErrors(t, map[string]sink.ServiceError{
		"credentials": {
			Status: 401, Response: `{"status":"error","message":"You must be logged in to do this."}`,
			Kind: sdk.ErrUnauthorized, Want: "must be logged in to do this.; check user.id and auth.token",
		},
		"channel": {
			Status: 400, Response: `{"success":false,"error":"invalid-channel"}`, Option: "channel", Want: "invalid-channel",
		},
		"not allowed": {
			Status:   400,
			Response: `{"success":false,"error":"Not allowed [error-not-allowed]","errorType":"error-not-allowed"}`,
			Option:   "channel", Want: "Not allowed",
		},
		"in a success": {
			Status: 200, Response: `{"success":false,"error":"something"}`, Want: "refused the message: something",
		},
		"other server": {Status: 200, Response: `<html>`, Option: "url", Want: "not that of Rocket.Chat"},
		"size": {
			Status: 400, Response: `{"success":false,"error":"error-message-size-exceeded"}`, Want: "size-exceeded",
		},
		"server error": {
			Status: 500, Response: `{"success":false,"error":"Internal server error"}`, Kind: sdk.ErrUnavailable,
			Want: "Internal server error",
		},
	})
}

func TestRateLimit(t *testing.T) {
	const response = `{"success":false,"error":"Error, too many requests. Please slow down. You must wait 46 seconds before trying this endpoint again. [error-too-many-requests]"}`
	limited := map[string]sink.ServiceError{}
	for _, status := range []int{200, 400, 429} {
		limited[fmt.Sprint(status)] = sink.ServiceError{
			Status: status, Response: response, Kind: sdk.RateLimited(shortWait, nil), Want: "too many requests",
		}
	}
	subject().ServiceErrors(t, limited)
}

func TestWait(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for text, want := range map[string]time.Duration{
		"1700000046000": 46 * time.Second, "": shortWait, "soon": shortWait,
		"1600000000000": shortWait, "1700000046": shortWait, "9999999999999": shortWait,
	} {
		if got := wait(http.Header{"X-Ratelimit-Reset": {text}}, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	sink.FuzzText(f, maxText, sink.UTF16, func(req trigger.Request) string { return text(chat.Of(req, false), "") })
}
