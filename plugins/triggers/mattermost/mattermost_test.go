package mattermost

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const hook = "/hooks/recognisable-hook"

func options(url string) map[string]any { return map[string]any{"url": url + hook} }

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Options: options, Service: service}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), subject().Case([]triggertest.Invalid{
		{Field: "url", Set: map[string]any{"url": "ftp://host/recognisable-hook"}},
		{Field: "iconurl", Set: map[string]any{"iconurl": "file://a/b"}},
		{Field: "priority", Set: map[string]any{"priority": "high"}},
		{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
	}))
}

// service plays Mattermost: it refuses what Mattermost refuses.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		if problem := wrong(c); problem != "" {
			return http.StatusBadRequest,
				`{"id":"web.incoming_webhook.parse.app_error","message":"Unable to parse incoming data: ` + problem +
					`","status_code":400}`
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

func TestPayloads(t *testing.T) { subject().Payloads(t, "*.json") }

func TestOptions(t *testing.T) {
	subject().Bodies(t, trigger.Request{Title: "T", Body: "B"}, map[string]sink.Body{
		"none":    {Want: `{"text":"**T**\n\nB"}`},
		"title":   {Set: map[string]any{"disabletitle": true}, Want: `{"text":"B"}`},
		"channel": {Set: map[string]any{"channel": "#town-square"}, Want: `{"text":"**T**\n\nB","channel":"town-square"}`},
		"user":    {Set: map[string]any{"channel": "@ana"}, Want: `{"text":"**T**\n\nB","channel":"@ana"}`},
		"looks": {
			Set:  map[string]any{"username": "Dog", "iconurl": "https://a/b", "iconemoji": ":dog:"},
			Want: `{"text":"**T**\n\nB","username":"Dog","icon_url":"https://a/b","icon_emoji":":dog:"}`,
		},
		"priority": {
			Set: map[string]any{"priority": "URGENT"}, Want: `{"text":"**T**\n\nB","priority":{"priority":"urgent"}}`,
		},
		"standard": {Set: map[string]any{"priority": "standard"}, Want: `{"text":"**T**\n\nB"}`},
	})
}

func TestLimits(t *testing.T) {
	long := func(body string) string { return text(chat.Message{Title: "T", Body: body}, "") }
	sink.Cuts(t, long, map[string]sink.Cut{
		"fits":  {Body: strings.Repeat("é", 16_376), Want: "**T**\n\n" + strings.Repeat("é", 16_376)},
		"cut":   {Body: strings.Repeat("é", 16_377), Want: "**T**\n\n" + strings.Repeat("é", 16_375) + "…"},
		"pairs": {Body: strings.Repeat("🐕", 8_189), Want: "**T**\n\n" + strings.Repeat("🐕", 8_187) + "…"},
	})
}

func TestServiceErrors(t *testing.T) {
	subject().ServiceErrors(t, map[string]sink.ServiceError{
		"hook": {
			Status:   400,
			Response: `{"id":"web.incoming_webhook.invalid.app_error","message":"Invalid webhook.","status_code":400}`,
			Kind:     sdk.ErrNotFound, Want: "Invalid webhook.; check url",
		},
		"switched off": {
			Status:   501,
			Response: `{"id":"web.incoming_webhook.disabled.app_error","message":"Incoming webhooks have been disabled by the system admin."}`, Kind: sdk.ErrNotFound, Want: "disabled by the system admin.; check url",
		},
		"channel": {
			Status:   404,
			Response: `{"id":"web.incoming_webhook.channel.app_error","message":"Couldn't find the channel."}`,
			Option:   "channel", Want: "Couldn't find the channel.",
		},
		"locked": {
			Status:   403,
			Response: `{"id":"web.incoming_webhook.channel_locked.app_error","message":"This webhook is not permitted to post to the requested channel."}`, Kind: sdk.ErrUnauthorized, Want: "requested channel.; check channel",
		},
		"priority": {
			Status:   400,
			Response: `{"id":"api.post.post_priority.priority_post_not_allowed_for_user.request_error","message":"Not allowed."}`, Option: "priority", Want: "Not allowed.",
		},
		"text": {
			Status: 400, Response: `{"id":"web.incoming_webhook.text.app_error","message":"No text specified."}`,
			Want: "No text specified.",
		},
		"server error": {
			Status: 500, Response: `{"id":"api.post.create","message":"Oops."}`, Kind: sdk.ErrUnavailable, Want: "Oops.",
		},
	})
}

func FuzzText(f *testing.F) {
	sink.FuzzText(f, maxText, utf8.RuneCountInString, func(req trigger.Request) string {
		return text(chat.Of(req, false), "")
	})
}
