package mattermost

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const hook = "/hooks/recognisable-hook"

func options(url string) map[string]any { return map[string]any{"url": url + hook} }

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return options(service(t).URL) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(options),
		Invalid: []triggertest.Invalid{
			{Field: "url", Set: map[string]any{"url": "ftp://host/recognisable-hook"}},
			{Field: "iconurl", Set: map[string]any{"iconurl": "file://a/b"}},
			{Field: "priority", Set: map[string]any{"priority": "high"}},
			{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
		},
	})
}

// service plays Mattermost: it refuses what Mattermost refuses.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		if problem := wrong(c); problem != "" {
			return http.StatusBadRequest, `{"id":"web.incoming_webhook.parse.app_error","message":"Unable to parse incoming data: ` + problem + `","status_code":400}`
		}
		return http.StatusOK, "ok"
	})
}

// wrong says what is wrong with a request, by the documentation of web hooks.
func wrong(c sink.Call) string {
	var m struct {
		Text      string  `json:"text"`
		Channel   *string `json:"channel"`
		Username  *string `json:"username"`
		IconURL   *string `json:"icon_url"`
		IconEmoji *string `json:"icon_emoji"`
		Priority  *struct {
			Priority string `json:"priority"`
		} `json:"priority"`
	}
	switch problem := c.Strict(&m); {
	case problem != "":
		return problem
	case c.Method != "POST" || c.URI != hook:
		return "address"
	case strings.TrimSpace(m.Text) == "" || utf8.RuneCountInString(m.Text) > 16_383 || strings.Contains(m.Text, "\x00"):
		return "text"
	case m.Priority != nil && !slices.Contains([]string{"important", "urgent"}, m.Priority.Priority):
		return "priority"
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
		set  map[string]any
		want string
	}{
		"none":     {nil, `{"text":"**T**\n\nB"}`},
		"title":    {map[string]any{"disabletitle": true}, `{"text":"B"}`},
		"channel":  {map[string]any{"channel": "#town-square"}, `{"text":"**T**\n\nB","channel":"town-square"}`},
		"user":     {map[string]any{"channel": "@ana"}, `{"text":"**T**\n\nB","channel":"@ana"}`},
		"looks":    {map[string]any{"username": "Dog", "iconurl": "https://a/b", "iconemoji": ":dog:"}, `{"text":"**T**\n\nB","username":"Dog","icon_url":"https://a/b","icon_emoji":":dog:"}`},
		"priority": {map[string]any{"priority": "URGENT"}, `{"text":"**T**\n\nB","priority":{"priority":"urgent"}}`},
		"standard": {map[string]any{"priority": "standard"}, `{"text":"**T**\n\nB"}`},
	}
	for name, test := range tests {
		s := service(t)
		all := options(s.URL)
		maps.Copy(all, test.set)
		if err := sink.Deliver(t, Type(), all, trigger.Request{Title: "T", Body: "B"}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(s.Last(t).Body); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestLimits(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"fits":  {strings.Repeat("é", 16_376), "**T**\n\n" + strings.Repeat("é", 16_376)},
		"cut":   {strings.Repeat("é", 16_377), "**T**\n\n" + strings.Repeat("é", 16_375) + "…"},
		"pairs": {strings.Repeat("🐕", 8_189), "**T**\n\n" + strings.Repeat("🐕", 8_187) + "…"},
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
		"hook":         {400, `{"id":"web.incoming_webhook.invalid.app_error","message":"Invalid webhook.","status_code":400}`, sdk.ErrNotFound, "", "Invalid webhook.; check url"},
		"switched off": {501, `{"id":"web.incoming_webhook.disabled.app_error","message":"Incoming webhooks have been disabled by the system admin."}`, sdk.ErrNotFound, "", "disabled by the system admin.; check url"},
		"channel":      {404, `{"id":"web.incoming_webhook.channel.app_error","message":"Couldn't find the channel."}`, nil, "channel", "Couldn't find the channel."},
		"locked":       {403, `{"id":"web.incoming_webhook.channel_locked.app_error","message":"This webhook is not permitted to post to the requested channel."}`, sdk.ErrUnauthorized, "", "requested channel.; check channel"},
		"priority":     {400, `{"id":"api.post.post_priority.priority_post_not_allowed_for_user.request_error","message":"Not allowed."}`, nil, "priority", "Not allowed."},
		"text":         {400, `{"id":"web.incoming_webhook.text.app_error","message":"No text specified."}`, nil, "", "No text specified."},
		"server error": {500, `{"id":"api.post.create","message":"Oops."}`, sdk.ErrUnavailable, "", "Oops."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := sink.Deliver(t, Type(), options(sink.Says(t, test.status, test.answer).URL), triggertest.Request("nginx"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q in it", err, test.want)
			}
			var invalid *sdk.InvalidError
			if test.kind != nil {
				if !errors.Is(err, test.kind) || sdk.Retryable(err) != (test.kind == sdk.ErrUnavailable) {
					t.Errorf("%#v", err)
				}
			} else if !errors.As(err, &invalid) || invalid.Fields[0].Field != test.option {
				t.Errorf("%#v", err)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add("title", "body")
	f.Fuzz(func(t *testing.T, title, body string) {
		got := text(chat.Of(trigger.Request{Title: title, Body: body}, false))
		if n := utf8.RuneCountInString(got); n > maxText || strings.TrimSpace(got) == "" {
			t.Errorf("%d characters", n)
		}
	})
}
