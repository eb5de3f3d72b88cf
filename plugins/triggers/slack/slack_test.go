package slack

import (
	"net/http"
	"regexp"
	"slices"
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
	token = "xoxb-recognisable-token"
	hook  = "/services/T00000000/B00000000/recognisable-hook"
)

func bot() sink.Subject {
	return sink.Subject{Type: Type(), Service: service, Options: func(url string) map[string]any {
		return map[string]any{"apiurl": url + "/api", "token": token, "channel": "C123"}
	}}
}

func webhook() sink.Subject {
	return sink.Subject{Type: Type(), Service: service, Options: func(url string) map[string]any {
		return map[string]any{"url": url + hook}
	}}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), bot().Case([]triggertest.Invalid{
		{Field: "token", Set: map[string]any{"token": nil}},
		{Field: "token", Set: map[string]any{"token": "xoxb-a\nb"}},
		{Field: "token", Set: map[string]any{"token": nil, "channel": nil}},
		{Field: "channel", Set: map[string]any{"channel": nil}},
		{Field: "url", Set: map[string]any{"url": "https://hooks.slack.com/services/recognisable"}},
		{Field: "channel", Set: map[string]any{"url": "https://hooks.slack.com/services/recognisable", "token": nil}},
		{Field: "apiurl", Set: map[string]any{"apiurl": "ftp://slack.com"}},
		{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
	}))
}

func TestConformanceOfWebHook(t *testing.T) {
	triggertest.Run(t, Type(), webhook().Case([]triggertest.Invalid{
		{Field: "url", Set: map[string]any{"url": "ftp://hooks.slack.com/recognisable"}},
	}))
}

func TestMasks(t *testing.T) {
	sink.Masks(t, Type(), map[string]any{"token": token, "channel": "C123"})
}

// service plays both of Slack's addresses: it refuses what Slack refuses.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		problem := wrong(c)
		switch {
		case c.URI == hook && problem == "":
			return http.StatusOK, "ok"
		case c.URI == hook:
			return http.StatusBadRequest, problem
		case c.URI != "/api/chat.postMessage":
			return http.StatusOK, `{"ok":false,"error":"unknown_method"}`
		case c.Header.Get("Authorization") != "Bearer "+token:
			return http.StatusOK, `{"ok":false,"error":"not_authed"}`
		case problem != "":
			return http.StatusOK, `{"ok":false,"error":"` + problem + `"}`
		}
		return http.StatusOK, `{"ok":true,"channel":"C123","ts":"1503435956.000247","message":{}}`
	})
}

// control is a < or > that is no entity, or a & that begins none.
var control = regexp.MustCompile(`[<>]|&(?:[^agl]|$|a[^m]|g[^t]|l[^t])`)

// wrong says what is wrong with a request, in Slack's word for it.
func wrong(c sink.Call) string {
	var m struct {
		Channel *string `json:"channel"`
		Text    string  `json:"text"`

		Attachments []attachment `json:"attachments"`
	}
	switch problem := c.Strict(&m); {
	case problem != "" || c.Method != "POST" || c.Header.Get("Content-Type") != "application/json; charset=utf-8":
		return "invalid_payload"
	case (c.URI == hook) != (m.Channel == nil), m.Channel != nil && *m.Channel != "C123":
		return "channel_not_found"
	case strings.TrimSpace(m.Text) == "":
		return "no_text"
	case sink.UTF16(m.Text) > 40_000:
		return "msg_too_long"
	case len(m.Attachments) > 100,
		slices.ContainsFunc(m.Attachments, func(a attachment) bool {
			return a.Fallback == "" || len(a.Actions) == 0 || len(a.Actions) > 5
		}):
		return "invalid_attachments"
	case control.MatchString(m.Text):
		return "invalid_blocks"
	}
	return ""
}

func TestPayloads(t *testing.T) {
	bot().Payloads(t, "*.bot.json")
	webhook().Payloads(t, "*.hook.json")
}

func TestOptions(t *testing.T) {
	bot().Bodies(t, trigger.Request{Title: "T", Body: "a < b"}, map[string]sink.Body{
		"title": {Set: map[string]any{"disabletitle": "true"}, Want: `{"channel":"C123","text":"a &lt; b"}`},
	})
}

func TestLimits(t *testing.T) {
	long := func(body string) string { return text(chat.Message{Title: "T", Body: body}) }
	// "*T*" and the empty line are five characters.
	sink.Cuts(t, long, map[string]sink.Cut{
		"fits":   {Body: strings.Repeat("x", 39_995), Want: "*T*\n\n" + strings.Repeat("x", 39_995)},
		"cut":    {Body: strings.Repeat("x", 39_996), Want: "*T*\n\n" + strings.Repeat("x", 39_994) + "…"},
		"escape": {Body: strings.Repeat("&", 10_000), Want: "*T*\n\n" + strings.Repeat("&amp;", 7_998) + "…"},
		"pairs":  {Body: strings.Repeat("🐕", 20_000), Want: "*T*\n\n" + strings.Repeat("🐕", 19_997) + "…"},
		"none":   {Body: "", Want: "*T*"},
	})
}

func TestServiceErrors(t *testing.T) {
	later := sdk.RateLimited(time.Second, nil)
	bot().ServiceErrors(t, map[string]sink.ServiceError{
		"invalid_auth": {
			Status: 200, Response: `{"ok":false,"error":"invalid_auth"}`, Kind: sdk.ErrUnauthorized,
			Want: "invalid_auth; check token",
		},
		"not_authed": {
			Status: 200, Response: `{"ok":false,"error":"not_authed"}`, Kind: sdk.ErrUnauthorized, Want: "not_authed",
		},
		"token_revoked": {
			Status: 200, Response: `{"ok":false,"error":"token_revoked"}`, Kind: sdk.ErrUnauthorized, Want: "token_revoked",
		},
		"missing_scope": {
			Status: 200, Response: `{"ok":false,"error":"missing_scope","needed":"chat:write","provided":"identify"}`,
			Kind: sdk.ErrUnauthorized, Want: "missing_scope (needs chat:write)",
		},
		"channel_not_found": {
			Status: 200, Response: `{"ok":false,"error":"channel_not_found"}`, Option: "channel", Want: "channel_not_found",
		},
		"not_in_channel": {
			Status: 200, Response: `{"ok":false,"error":"not_in_channel"}`, Option: "channel", Want: "invite the bot",
		},
		"is_archived": {
			Status: 200, Response: `{"ok":false,"error":"is_archived"}`, Option: "channel", Want: "is_archived",
		},
		"ratelimited": {Status: 200, Response: `{"ok":false,"error":"ratelimited"}`, Kind: later, Want: "ratelimited"},
		"fatal_error": {
			Status: 200, Response: `{"ok":false,"error":"fatal_error"}`, Kind: sdk.ErrUnavailable, Want: "fatal_error",
		},
		"something_new": {Status: 200, Response: `{"ok":false,"error":"something_new"}`, Want: "something_new"},
		"internal_error": {
			Status: 500, Response: `{"ok":false,"error":"internal_error"}`, Kind: sdk.ErrUnavailable, Want: "internal_error",
		},
		"page":        {Status: 200, Response: `<html>welcome`, Option: "apiurl", Want: "not that of Slack"},
		"no response": {Status: 200, Response: `{}`, Option: "apiurl", Want: "not that of Slack"},
	})
	webhook().ServiceErrors(t, map[string]sink.ServiceError{
		"no_service":              {Status: 404, Response: "no_service", Option: "url", Want: "no_service"},
		"no_service in a success": {Status: 200, Response: "no_service\n", Option: "url", Want: "no_service"},
		"channel_is_archived":     {Status: 410, Response: "channel_is_archived", Option: "url", Want: "channel_is_archived"},
		"action_prohibited": {
			Status: 403, Response: "action_prohibited", Kind: sdk.ErrUnauthorized, Want: "action_prohibited; check url",
		},
		"invalid_payload": {Status: 400, Response: "invalid_payload", Want: "invalid_payload"},
		"rollup_error":    {Status: 500, Response: "rollup_error", Kind: sdk.ErrUnavailable, Want: "rollup_error"},
		"rate_limited":    {Status: 200, Response: "rate_limited", Kind: later, Want: "rate_limited"},
		"502":             {Status: 502, Response: "Bad gateway", Kind: sdk.ErrUnavailable, Want: "502"},
	})
}

// What other services with such hooks respond is no error.
func TestResponsesOfHooks(t *testing.T) {
	for _, response := range []string{"ok", "", "okay", `{"success":true}`, "OK\n"} {
		if err := sink.Deliver(t, Type(), webhook().Options(sink.RespondWith(t, 200, response).URL),
			triggertest.Request("nginx")); err != nil {
			t.Errorf("%q: %v", response, err)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("title", "body & <!channel> &amp;")
	f.Fuzz(func(t *testing.T, title, body string) {
		m := chat.Of(trigger.Request{Title: title, Body: body}, false)
		got := text(m)
		if control.MatchString(got) || sink.UTF16(got) > maxText {
			t.Errorf("%q", got)
		}
		back := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(got)
		if want := chat.Join(chat.Wrap("*", m.Title, "*"), m.Body); len(body) < 1000 && back != want {
			t.Errorf("%q, want %q", back, want)
		}
	})
}
