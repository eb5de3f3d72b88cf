package discord

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const hook = "/api/webhooks/223704706495545344/recognisable-token"

func options(url string) map[string]any { return map[string]any{"url": url + hook} }

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Options: options, Service: service}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), subject().Case([]triggertest.Invalid{
		{Field: "url", Set: map[string]any{"url": "ftp://host/recognisable-token"}},
		{Field: "avatarurl", Set: map[string]any{"avatarurl": "data://x/y"}},
		{Field: "avatarurl", Set: map[string]any{"avatarurl": "https://x/" + strings.Repeat("y", 2048)}},
		{Field: "botusername", Set: map[string]any{"botusername": strings.Repeat("x", 81)}},
		{Field: "cardlabel", Set: map[string]any{"cardlabel": strings.Repeat("x", 257)}},
		{Field: "threadid", Set: map[string]any{"threadid": "updates"}},
		{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
	}))
}

func TestMasks(t *testing.T) {
	sink.Masks(t, Type(),
		subject().With(map[string]any{"proxy": "http://ana:password@proxy:3128"}).Options("https://discord.com"))
}

// service plays Discord: it refuses what Discord refuses.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		if problem := wrong(c); problem != "" {
			return http.StatusBadRequest, `{"code":50035,"message":"Invalid Form Body: ` + problem + `"}`
		}
		return http.StatusOK, `{"id":"1"}`
	})
}

// wrong says what is wrong with a request, by the documentation of the web hook and its embeds.
func wrong(c sink.Call) string {
	var m struct {
		Username  *string `json:"username"`
		AvatarURL *string `json:"avatar_url"`
		Embeds    []struct {
			Title       *string `json:"title"`
			Description *string `json:"description"`
			Color       int     `json:"color"`
			Fields      []struct {
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"fields"`
		} `json:"embeds"`
		Components []struct {
			Type       int `json:"type"`
			Components []struct {
				Type  int    `json:"type"`
				Style int    `json:"style"`
				Label string `json:"label"`
				URL   string `json:"url"`
			} `json:"components"`
		} `json:"components"`
	}
	if problem := c.Strict(&m); problem != "" {
		return problem
	}
	if c.Method != "POST" || !strings.HasPrefix(c.URI, hook+"?") {
		return "address"
	}
	total := 0
	good := func(text *string, limit int) bool {
		if text == nil {
			return true
		}
		n := sink.UTF16(*text)
		total += n
		return n > 0 && n <= limit && strings.TrimSpace(*text) != ""
	}
	if !good(m.Username, 80) || !good(m.AvatarURL, 2048) || len(m.Embeds) != 1 {
		return "username, avatar_url or embeds"
	}
	if len(m.Components) > 5 || (len(m.Components) > 0) != strings.HasSuffix(c.URI, "&with_components=true") {
		return "components"
	}
	for _, r := range m.Components {
		if r.Type != 1 || len(r.Components) == 0 || len(r.Components) > 5 {
			return "action row"
		}
		for _, b := range r.Components {
			if b.Type != 2 || b.Style != 5 || !good(&b.Label, 80) || !good(&b.URL, 512) {
				return "button"
			}
		}
	}
	total = 0
	for _, e := range m.Embeds {
		if !good(e.Title, 256) || !good(e.Description, 4096) || e.Color < 0 || e.Color > 0xFFFFFF || len(e.Fields) > 25 {
			return "embed"
		}
		for _, f := range e.Fields {
			if !good(&f.Name, 256) || !good(&f.Value, 1024) {
				return "field"
			}
		}
	}
	if total == 0 || total > 6000 {
		return "total length"
	}
	return ""
}

func TestPayloads(t *testing.T) {
	subject().Payloads(t, "*.json")
	labelled := map[string]any{
		"cardlabel": "Container", "botusername": "WUD", "avatarurl": "https://example.org/a.png", "cardcolor": 255,
	}
	subject().With(labelled).Payloads(t, "*labelled.json")
}

func TestAddress(t *testing.T) {
	subject().Bodies(t, triggertest.Request("nginx"), map[string]sink.Body{
		"channel": {Set: map[string]any{"threadid": ""}, URI: hook + "?wait=true"},
		"thread":  {Set: map[string]any{"threadid": "42"}, URI: hook + "?thread_id=42&wait=true"},
	})
}

func TestLimits(t *testing.T) {
	plain := func(body string) string {
		return (&discord{}).message(trigger.Request{Title: "T", Body: body}).Embeds[0].Description
	}
	sink.Cuts(t, plain, map[string]sink.Cut{
		"fits":  {Body: strings.Repeat("é", 4096), Want: strings.Repeat("é", 4096)},
		"cut":   {Body: strings.Repeat("é", 4097), Want: strings.Repeat("é", 4095) + "…"},
		"pairs": {Body: strings.Repeat("🐕", 2049), Want: strings.Repeat("🐕", 2047) + "…"},
	})
	labelled := func(body string) string {
		return (&discord{label: "L"}).message(trigger.Request{Title: "T", Body: body}).Embeds[0].Fields[0].Value
	}
	sink.Cuts(t, labelled, map[string]sink.Cut{
		"labelled":     {Body: strings.Repeat("é", 1024), Want: strings.Repeat("é", 1024)},
		"labelled cut": {Body: strings.Repeat("é", 1025), Want: strings.Repeat("é", 1023) + "…"},
	})
}

func TestServiceErrors(t *testing.T) {
	subject().ServiceErrors(t, map[string]sink.ServiceError{
		"rate limit": {
			Status: 429, Response: `{"message":"You are being rate limited.","retry_after":64.57,"global":false}`,
			Kind: sdk.RateLimited(64570*time.Millisecond, nil), Want: "You are being rate limited.",
		},
		"hook gone": {
			Status: 404, Response: `{"message":"Unknown Webhook","code":10015}`, Option: "url", Want: "Unknown Webhook",
		},
		"thread": {
			Status: 404, Response: `{"message":"Unknown Channel","code":10003}`, Option: "threadid", Want: "Unknown Channel",
		},
		"forum": {
			Status:   400,
			Response: `{"message":"Webhooks posted to forum channels must have a thread_name or thread_id","code":220001}`, Option: "threadid", Want: "forum channels",
		},
		"username": {
			Status:   400,
			Response: `{"message":"Invalid Form Body","code":50035,"errors":{"username":{"_errors":[{"code":"USERNAME_INVALID_CONTAINS","message":"Username cannot contain \"discord\""}]}}}`,
			Option:   "botusername", Want: `Invalid Form Body; username: Username cannot contain "discord"`,
		},
		"embed": {
			Status:   400,
			Response: `{"message":"Invalid Form Body","code":50035,"errors":{"embeds":{"0":{"title":{"_errors":[{"message":"too long"}]},"url":7}}}}`, Want: "embeds: too long",
		},
	})
}

func FuzzMessage(f *testing.F) {
	f.Add("title", "body", "label")
	f.Add("", "\u200b\x00", " ")
	s := service(f)
	f.Fuzz(func(t *testing.T, title, body, label string) {
		if len(label) > maxFieldName {
			label = ""
		}
		options := subject().With(map[string]any{"cardlabel": label}).Options(s.URL)
		if err := sink.Deliver(t, Type(), options, trigger.Request{Title: title, Body: body}); err != nil {
			t.Error(err)
		}
	})
}
