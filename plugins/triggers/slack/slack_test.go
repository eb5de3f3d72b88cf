package slack

import (
	"errors"
	"net/http"
	"regexp"
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
	token = "xoxb-recognisable-token"
	hook  = "/services/T00000000/B00000000/recognisable-hook"
)

func bot(url string) map[string]any {
	return map[string]any{"apiurl": url + "/api", "token": token, "channel": "C123"}
}

func webhook(url string) map[string]any { return map[string]any{"url": url + hook} }

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return bot(service(t).URL) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return bot(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(bot),
		Invalid: []triggertest.Invalid{
			{Field: "token", Set: map[string]any{"token": nil}},
			{Field: "token", Set: map[string]any{"token": "xoxb-a\nb"}},
			{Field: "token", Set: map[string]any{"token": nil, "channel": nil}},
			{Field: "channel", Set: map[string]any{"channel": nil}},
			{Field: "url", Set: map[string]any{"url": "https://hooks.slack.com/services/recognisable"}},
			{Field: "channel", Set: map[string]any{"url": "https://hooks.slack.com/services/recognisable", "token": nil}},
			{Field: "apiurl", Set: map[string]any{"apiurl": "ftp://slack.com"}},
			{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
		},
	})
}

func TestConformanceOfWebHook(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return webhook(service(t).URL) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return webhook(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(webhook),
		Invalid: []triggertest.Invalid{{Field: "url", Set: map[string]any{"url": "ftp://hooks.slack.com/recognisable"}}},
	})
}

// What the HTTP interface shows is what WUD's clients expect to see.
func TestMasks(t *testing.T) {
	golden.Check(t, "masks.json", sink.Shown(t, Type(), map[string]any{"token": token, "channel": "C123"}))
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
	}
	switch problem := c.Strict(&m); {
	case problem != "" || c.Method != "POST" || c.Header.Get("Content-Type") != "application/json; charset=utf-8":
		return "invalid_payload"
	case (c.URI == hook) != (m.Channel == nil), m.Channel != nil && *m.Channel != "C123":
		return "channel_not_found"
	case strings.TrimSpace(m.Text) == "":
		return "no_text"
	case len(utf16.Encode([]rune(m.Text))) > 40_000:
		return "msg_too_long"
	case control.MatchString(m.Text):
		return "invalid_blocks"
	}
	return ""
}

func TestPayloads(t *testing.T) {
	for name, req := range golden.Requests() {
		for kind, options := range map[string]func(string) map[string]any{"bot": bot, "hook": webhook} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				s := service(t)
				if err := sink.Deliver(t, Type(), options(s.URL), req); err != nil {
					t.Fatal(err)
				}
				golden.Check(t, name+"."+kind+".json", s.Last(t).Pretty(t))
			})
		}
	}
}

func TestDisableTitle(t *testing.T) {
	s := service(t)
	options := bot(s.URL)
	options["disabletitle"] = "true"
	if err := sink.Deliver(t, Type(), options, trigger.Request{Title: "T", Body: "a < b"}); err != nil {
		t.Fatal(err)
	}
	if got := string(s.Last(t).Body); got != `{"channel":"C123","text":"a &lt; b"}` {
		t.Error(got)
	}
}

func TestLimits(t *testing.T) {
	// "*T*" and the empty line are five characters.
	tests := map[string]struct{ body, want string }{
		"fits":   {strings.Repeat("x", 39_995), "*T*\n\n" + strings.Repeat("x", 39_995)},
		"cut":    {strings.Repeat("x", 39_996), "*T*\n\n" + strings.Repeat("x", 39_994) + "…"},
		"escape": {strings.Repeat("&", 10_000), "*T*\n\n" + strings.Repeat("&amp;", 7_998) + "…"},
		"pairs":  {strings.Repeat("🐕", 20_000), "*T*\n\n" + strings.Repeat("🐕", 19_997) + "…"},
		"none":   {"", "*T*"},
	}
	for name, test := range tests {
		if got := text(chat.Message{Title: "T", Body: test.body}); got != test.want {
			t.Errorf("%s: %d characters, ends with %q", name, len([]rune(got)), got[max(0, len(got)-10):])
		}
	}
}

func TestRefusals(t *testing.T) {
	const retry = "retry"
	tests := []struct {
		hook   bool
		status int
		answer string
		kind   error
		option string
		want   string
	}{
		{false, 200, `{"ok":false,"error":"invalid_auth"}`, sdk.ErrUnauthorized, "", "invalid_auth; check token"},
		{false, 200, `{"ok":false,"error":"not_authed"}`, sdk.ErrUnauthorized, "", "not_authed"},
		{false, 200, `{"ok":false,"error":"token_revoked"}`, sdk.ErrUnauthorized, "", "token_revoked"},
		{false, 200, `{"ok":false,"error":"missing_scope","needed":"chat:write","provided":"identify"}`, sdk.ErrUnauthorized, "", "missing_scope (needs chat:write)"},
		{false, 200, `{"ok":false,"error":"channel_not_found"}`, nil, "channel", "channel_not_found"},
		{false, 200, `{"ok":false,"error":"not_in_channel"}`, nil, "channel", "invite the bot"},
		{false, 200, `{"ok":false,"error":"is_archived"}`, nil, "channel", "is_archived"},
		{false, 200, `{"ok":false,"error":"ratelimited"}`, nil, retry, "ratelimited"},
		{false, 200, `{"ok":false,"error":"fatal_error"}`, sdk.ErrUnavailable, "", "fatal_error"},
		{false, 200, `{"ok":false,"error":"something_new"}`, nil, "", "something_new"},
		{false, 500, `{"ok":false,"error":"internal_error"}`, sdk.ErrUnavailable, "", "internal_error"},
		{false, 200, `<html>welcome`, nil, "apiurl", "not that of Slack"},
		{false, 200, `{}`, nil, "apiurl", "not that of Slack"},
		{true, 404, "no_service", nil, "url", "no_service"},
		{true, 200, "no_service\n", nil, "url", "no_service"},
		{true, 410, "channel_is_archived", nil, "url", "channel_is_archived"},
		{true, 403, "action_prohibited", sdk.ErrUnauthorized, "", "action_prohibited; check url"},
		{true, 400, "invalid_payload", nil, "", "invalid_payload"},
		{true, 500, "rollup_error", sdk.ErrUnavailable, "", "rollup_error"},
		{true, 200, "rate_limited", nil, retry, "rate_limited"},
		{true, 502, "Bad gateway", sdk.ErrUnavailable, "", "502"},
	}
	for _, test := range tests {
		t.Run(test.answer, func(t *testing.T) {
			options := bot
			if test.hook {
				options = webhook
			}
			err := sink.Deliver(t, Type(), options(sink.Says(t, test.status, test.answer).URL), triggertest.Request("nginx"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q in it", err, test.want)
			}
			var limited *sdk.RateLimitedError
			var invalid *sdk.InvalidError
			switch {
			case test.option == retry:
				if !errors.As(err, &limited) || limited.After != time.Second {
					t.Errorf("%#v", err)
				}
			case test.kind != nil:
				if !errors.Is(err, test.kind) {
					t.Errorf("%#v", err)
				}
			case !errors.As(err, &invalid) || invalid.Fields[0].Field != test.option:
				t.Errorf("%#v", err)
			}
		})
	}
}

// What other services with such hooks answer is no refusal.
func TestAnswersOfHooks(t *testing.T) {
	for _, answer := range []string{"ok", "", "okay", `{"success":true}`, "OK\n"} {
		if err := sink.Deliver(t, Type(), webhook(sink.Says(t, 200, answer).URL), triggertest.Request("nginx")); err != nil {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("title", "body & <!channel> &amp;")
	f.Fuzz(func(t *testing.T, title, body string) {
		m := chat.Of(trigger.Request{Title: title, Body: body}, false)
		got := text(m)
		if control.MatchString(got) || len(utf16.Encode([]rune(got))) > maxText {
			t.Errorf("%q", got)
		}
		back := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(got)
		if want := chat.Join(chat.Wrap("*", m.Title, "*"), m.Body); len(body) < 1000 && back != want {
			t.Errorf("%q, want %q", back, want)
		}
	})
}
