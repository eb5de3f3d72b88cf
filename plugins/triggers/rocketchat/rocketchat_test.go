package rocketchat

import (
	"errors"
	"maps"
	"net/http"
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
	user  = "recognisable-user"
	token = "recognisable-token"
)

func options(url string) map[string]any {
	return map[string]any{"url": url, "user.id": user, "auth.token": token, "channel": "#updates"}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return options(service(t).URL) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(options),
		Invalid: []triggertest.Invalid{
			{Field: "url", Set: map[string]any{"url": "ftp://chat.example.org"}},
			{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
		},
	})
}

// What the HTTP interface shows is what WUD's clients expect to see.
func TestMasks(t *testing.T) {
	golden.Check(t, "masks.json", sink.Shown(t, Type(), options("https://chat.example.org")))
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
	case strings.TrimSpace(m.Text) == "" || len(utf16.Encode([]rune(m.Text))) > 5000:
		return "error-message-size-exceeded"
	}
	return ""
}

func TestPayloads(t *testing.T) {
	for name, req := range golden.Requests() {
		t.Run(name, func(t *testing.T) {
			s := service(t)
			if err := sink.Deliver(t, Type(), options(s.URL+"/"), req); err != nil {
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
		"none":     {nil, `{"channel":"#updates","text":"T\n\nB"}`},
		"title":    {map[string]any{"disabletitle": true}, `{"channel":"#updates","text":"B"}`},
		"looks":    {map[string]any{"alias": "Dog", "avatar": "https://a", "emoji": ":dog:"}, `{"channel":"#updates","text":"T\n\nB","alias":"Dog","avatar":"https://a","emoji":":dog:"}`},
		"parse":    {map[string]any{"parse.urls": "true"}, `{"channel":"#updates","text":"T\n\nB","parseUrls":true}`},
		"no parse": {map[string]any{"parse.urls": "false"}, `{"channel":"#updates","text":"T\n\nB","parseUrls":false}`},
		"trimmed":  {map[string]any{"user.id": user + "\n", "auth.token": " " + token, "channel": " #updates"}, `{"channel":"#updates","text":"T\n\nB"}`},
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
		"fits":  {strings.Repeat("é", 4997), "T\n\n" + strings.Repeat("é", 4997)},
		"cut":   {strings.Repeat("é", 4998), "T\n\n" + strings.Repeat("é", 4996) + "…"},
		"pairs": {strings.Repeat("🐕", 2499), "T\n\n" + strings.Repeat("🐕", 2498) + "…"},
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
		"credentials":  {401, `{"status":"error","message":"You must be logged in to do this."}`, sdk.ErrUnauthorized, "", "must be logged in to do this.; check user.id and auth.token"},
		"channel":      {400, `{"success":false,"error":"invalid-channel"}`, nil, "channel", "invalid-channel"},
		"not allowed":  {400, `{"success":false,"error":"Not allowed [error-not-allowed]","errorType":"error-not-allowed"}`, nil, "channel", "Not allowed"},
		"in a success": {200, `{"success":false,"error":"something"}`, nil, "", "refused the message: something"},
		"other server": {200, `<html>`, nil, "url", "not that of Rocket.Chat"},
		"size":         {400, `{"success":false,"error":"error-message-size-exceeded"}`, nil, "", "size-exceeded"},
		"server error": {500, `{"success":false,"error":"Internal server error"}`, sdk.ErrUnavailable, "", "Internal server error"},
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
}

func TestRateLimit(t *testing.T) {
	const answer = `{"success":false,"error":"Error, too many requests. Please slow down. You must wait 46 seconds before trying this endpoint again. [error-too-many-requests]"}`
	for _, status := range []int{200, 400, 429} {
		err := sink.Deliver(t, Type(), options(sink.Says(t, status, answer).URL), triggertest.Request("nginx"))
		var limited *sdk.RateLimitedError
		if !errors.As(err, &limited) || limited.After != shortWait {
			t.Errorf("%d: %#v", status, err)
		}
	}
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
	f.Add("title", "body")
	f.Fuzz(func(t *testing.T, title, body string) {
		got := text(chat.Of(trigger.Request{Title: title, Body: body}, false))
		if n := len(utf16.Encode([]rune(got))); n > maxText || strings.TrimSpace(got) == "" {
			t.Errorf("%d characters", n)
		}
	})
}
