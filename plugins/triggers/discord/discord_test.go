package discord

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const hook = "/api/webhooks/223704706495545344/recognisable-token"

func options(url string) map[string]any { return map[string]any{"url": url + hook} }

func with(url string, set map[string]any) map[string]any {
	all := options(url)
	for name, v := range set {
		all[name] = v
	}
	return all
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return options(service(t).URL) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(options),
		Invalid: []triggertest.Invalid{
			{Field: "url", Set: map[string]any{"url": "ftp://host/recognisable-token"}},
			{Field: "avatarurl", Set: map[string]any{"avatarurl": "data://x/y"}},
			{Field: "avatarurl", Set: map[string]any{"avatarurl": "https://x/" + strings.Repeat("y", 2048)}},
			{Field: "botusername", Set: map[string]any{"botusername": strings.Repeat("x", 81)}},
			{Field: "cardlabel", Set: map[string]any{"cardlabel": strings.Repeat("x", 257)}},
			{Field: "threadid", Set: map[string]any{"threadid": "updates"}},
			{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
		},
	})
}

// What the HTTP interface shows is what WUD's clients expect to see.
func TestMasks(t *testing.T) {
	golden.Check(t, "masks.json", sink.Shown(t, Type(), with("https://discord.com", map[string]any{"proxy": "http://ana:password@proxy:3128"})))
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
		n := len(utf16.Encode([]rune(*text)))
		total += n
		return n > 0 && n <= limit && strings.TrimSpace(*text) != ""
	}
	if !good(m.Username, 80) || !good(m.AvatarURL, 2048) || len(m.Embeds) != 1 {
		return "username, avatar_url or embeds"
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
	for name, req := range golden.Requests() {
		for kind, set := range map[string]map[string]any{
			"":         {},
			"labelled": {"cardlabel": "Container", "botusername": "WUD", "avatarurl": "https://example.org/a.png", "cardcolor": 255},
		} {
			t.Run(name+kind, func(t *testing.T) {
				s := service(t)
				if err := sink.Deliver(t, Type(), with(s.URL, set), req); err != nil {
					t.Fatal(err)
				}
				golden.Check(t, name+kind+".json", s.Last(t).Pretty(t))
			})
		}
	}
}

func TestAddress(t *testing.T) {
	for thread, want := range map[string]string{"": hook + "?wait=true", "42": hook + "?thread_id=42&wait=true"} {
		s := service(t)
		if err := sink.Deliver(t, Type(), with(s.URL, map[string]any{"threadid": thread}), triggertest.Request("nginx")); err != nil {
			t.Fatal(err)
		}
		if got := s.Last(t).URI; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	tests := map[string]struct {
		label, body, want string
	}{
		"fits":         {"", strings.Repeat("é", 4096), strings.Repeat("é", 4096)},
		"cut":          {"", strings.Repeat("é", 4097), strings.Repeat("é", 4095) + "…"},
		"pairs":        {"", strings.Repeat("🐕", 2049), strings.Repeat("🐕", 2047) + "…"},
		"labelled":     {"L", strings.Repeat("é", 1024), strings.Repeat("é", 1024)},
		"labelled cut": {"L", strings.Repeat("é", 1025), strings.Repeat("é", 1023) + "…"},
	}
	for name, test := range tests {
		m := (&discord{label: test.label}).message(trigger.Request{Title: "T", Body: test.body})
		got := m.Embeds[0].Description
		if test.label != "" {
			got = m.Embeds[0].Fields[0].Value
		}
		if got != test.want {
			t.Errorf("%s: %d units", name, len(utf16.Encode([]rune(got))))
		}
	}
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		status       int
		answer       string
		option, want string
		wait         time.Duration
	}{
		"rate limit": {429, `{"message":"You are being rate limited.","retry_after":64.57,"global":false}`, "", "You are being rate limited.", 64570 * time.Millisecond},
		"hook gone":  {404, `{"message":"Unknown Webhook","code":10015}`, "url", "Unknown Webhook", 0},
		"thread":     {404, `{"message":"Unknown Channel","code":10003}`, "threadid", "Unknown Channel", 0},
		"forum":      {400, `{"message":"Webhooks posted to forum channels must have a thread_name or thread_id","code":220001}`, "threadid", "forum channels", 0},
		"username": {400, `{"message":"Invalid Form Body","code":50035,"errors":{"username":{"_errors":[{"code":"USERNAME_INVALID_CONTAINS","message":"Username cannot contain \"discord\""}]}}}`,
			"botusername", `Invalid Form Body; username: Username cannot contain "discord"`, 0},
		"embed": {400, `{"message":"Invalid Form Body","code":50035,"errors":{"embeds":{"0":{"title":{"_errors":[{"message":"too long"}]},"url":7}}}}`,
			"", "embeds: too long", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := sink.Deliver(t, Type(), options(sink.Says(t, test.status, test.answer).URL), triggertest.Request("nginx"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q in it", err, test.want)
			}
			var limited *sdk.RateLimitedError
			var invalid *sdk.InvalidError
			switch {
			case test.wait > 0:
				if !errors.As(err, &limited) || limited.After != test.wait {
					t.Errorf("%#v", err)
				}
			case !errors.As(err, &invalid) || invalid.Fields[0].Field != test.option:
				t.Errorf("%#v", err)
			}
		})
	}
}

func FuzzMessage(f *testing.F) {
	f.Add("title", "body", "label")
	f.Add("", "\u200b\x00", " ")
	s := service(f)
	f.Fuzz(func(t *testing.T, title, body, label string) {
		if len(label) > maxFieldName {
			label = ""
		}
		if err := sink.Deliver(t, Type(), with(s.URL, map[string]any{"cardlabel": label}), trigger.Request{Title: title, Body: body}); err != nil {
			t.Error(err)
		}
	})
}
