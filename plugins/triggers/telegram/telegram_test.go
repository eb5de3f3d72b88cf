package telegram

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func options(url string) map[string]any {
	return map[string]any{"apiurl": url, "bottoken": token, "chatid": chatID}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return options(service(t).URL) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(options),
		Invalid: []triggertest.Invalid{
			{Field: "bottoken", Set: map[string]any{"bottoken": "recognisable"}},
			{Field: "bottoken", Set: map[string]any{"bottoken": "1:recognisable/../x"}},
			{Field: "messagethreadid", Set: map[string]any{"messagethreadid": 0}},
			{Field: "messageformat", Set: map[string]any{"messageformat": "plain"}},
			{Field: "apiurl", Set: map[string]any{"apiurl": "ftp://host"}},
			{Field: "proxy", Set: map[string]any{"proxy": "socks4://host:1080"}},
			{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
		},
	})
}

// What the HTTP interface shows is what WUD's clients expect to see.
func TestMasks(t *testing.T) {
	golden.Check(t, "masks.json", sink.Shown(t, Type(), map[string]any{"bottoken": token, "chatid": chatID, "proxy": "socks5://ana:password@proxy:1080"}))
}

func TestPayloads(t *testing.T) {
	for name, req := range golden.Requests() {
		for _, format := range []string{"markdown", "html"} {
			t.Run(name+"/"+format, func(t *testing.T) {
				s := service(t)
				all := options(s.URL)
				all["messageformat"] = format
				if err := sink.Deliver(t, Type(), all, req); err != nil {
					t.Fatal(err)
				}
				golden.Check(t, name+"."+format+".json", s.Last(t).Pretty(t))
			})
		}
	}
}

// The default templates, simple and batch, with and without a title, in both formats.
func TestDefaultTemplatesArrive(t *testing.T) {
	const (
		title = "New tag found for container my_app.web"
		body  = "Container my_app.web running with tag 1.25.0 can be updated to tag 1.26.0-alpine (x>y & <z>)\nhttps://rel/1.26?a=1&b=_2_"
	)
	for name, req := range map[string]trigger.Request{
		"simple": {Title: title, Body: body},
		"batch":  {Title: "2 updates available", Body: "- " + body + "\n\n- " + body + "\n", Batch: true},
	} {
		for _, format := range []string{"Markdown", "HTML"} {
			for _, untitled := range []bool{false, true} {
				s := service(t)
				all := options(s.URL)
				all["messageformat"], all["disabletitle"] = format, untitled
				if err := sink.Deliver(t, Type(), all, req); err != nil {
					t.Errorf("%s, %s, %v: %v", name, format, untitled, err)
					continue
				}
				var sent message
				if problem := s.Last(t).Strict(&sent); problem != "" {
					t.Fatal(problem)
				}
				want := strings.TrimSpace(req.Body)
				if !untitled {
					want = req.Title + "\n\n" + want
				}
				if got, err := read(sent.ParseMode, sent.Text); got != want {
					t.Errorf("%s, %s, %v: %q, %v", name, format, untitled, got, err)
				}
			}
		}
	}
}

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		set  map[string]any
		want string
	}{
		"none":    {nil, `{"chat_id":"-1001234567890","text":"*T*\n\n1\\.0","parse_mode":"MarkdownV2"}`},
		"html":    {map[string]any{"messageformat": "html"}, `{"chat_id":"-1001234567890","text":"<b>T</b>\n\n1.0","parse_mode":"HTML"}`},
		"title":   {map[string]any{"disabletitle": "true"}, `{"chat_id":"-1001234567890","text":"1\\.0","parse_mode":"MarkdownV2"}`},
		"topic":   {map[string]any{"messagethreadid": "7"}, `{"chat_id":"-1001234567890","message_thread_id":7,"text":"*T*\n\n1\\.0","parse_mode":"MarkdownV2"}`},
		"silent":  {map[string]any{"disablenotification": true}, `{"chat_id":"-1001234567890","text":"*T*\n\n1\\.0","parse_mode":"MarkdownV2","disable_notification":true}`},
		"trimmed": {map[string]any{"bottoken": token + "\n", "chatid": " " + chatID}, `{"chat_id":"-1001234567890","text":"*T*\n\n1\\.0","parse_mode":"MarkdownV2"}`},
		"number":  {map[string]any{"chatid": -1001234567890}, `{"chat_id":"-1001234567890","text":"*T*\n\n1\\.0","parse_mode":"MarkdownV2"}`},
	}
	for name, test := range tests {
		s := service(t)
		all := options(s.URL + "/")
		maps.Copy(all, test.set)
		if err := sink.Deliver(t, Type(), all, trigger.Request{Title: "T", Body: "1.0"}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(s.Last(t).Body); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// Telegram counts what is left when the markup is read, in UTF-16 code units.
func TestLimits(t *testing.T) {
	// "T" and the empty line are three.
	tests := map[string]struct{ body, want string }{
		"fits":      {strings.Repeat("x", 4093), strings.Repeat("x", 4093)},
		"cut":       {strings.Repeat("x", 4094), strings.Repeat("x", 4092) + "…"},
		"reserved":  {strings.Repeat(".", 4093), strings.Repeat(".", 4093)},
		"too many":  {strings.Repeat(".", 9000), strings.Repeat(".", 4092) + "…"},
		"entities":  {strings.Repeat("<&>", 2000), strings.Repeat("<&>", 1364) + "…"},
		"backslash": {strings.Repeat(`\`, 9000), strings.Repeat(`\`, 4092) + "…"},
		"pairs":     {strings.Repeat("🐕", 2047), strings.Repeat("🐕", 2046) + "…"},
		"pairs fit": {strings.Repeat("🐕", 2046), strings.Repeat("🐕", 2046)},
	}
	for name, test := range tests {
		for _, m := range []markup{markdown, html} {
			got, err := read(m.mode, m.text(chat.Message{Title: "T", Body: test.body}))
			if err != nil || got != "T\n\n"+test.want {
				t.Errorf("%s, %s: %d units, %v", name, m.mode, chat.Units(got), err)
			}
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
		"token":     {401, `{"ok":false,"error_code":401,"description":"Unauthorized"}`, sdk.ErrUnauthorized, "", "Unauthorized; check bottoken"},
		"no token":  {404, `{"ok":false,"error_code":404,"description":"Not Found"}`, sdk.ErrUnauthorized, "", "check bottoken"},
		"chat":      {400, `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`, nil, "chatid", "Bad Request: chat not found"},
		"blocked":   {403, `{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}`, sdk.ErrUnauthorized, "", "bot was blocked by the user; check chatid"},
		"moved":     {400, `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-100987654321}}`, nil, "chatid", "another id"},
		"topic":     {400, `{"ok":false,"error_code":400,"description":"Bad Request: message thread not found"}`, nil, "messagethreadid", "thread not found"},
		"closed":    {400, `{"ok":false,"error_code":400,"description":"Bad Request: TOPIC_CLOSED"}`, nil, "messagethreadid", "TOPIC_CLOSED"},
		"markup":    {400, `{"ok":false,"error_code":400,"description":"Bad Request: can't parse entities"}`, nil, "", "can't parse entities"},
		"server":    {502, `{"ok":false,"error_code":502,"description":"Bad Gateway"}`, sdk.ErrUnavailable, "", "Bad Gateway"},
		"false":     {200, `{"ok":false,"description":"Nope"}`, nil, "", "refused the message: Nope"},
		"elsewhere": {200, `<html>`, nil, "apiurl", "not that of a Bot API server"},
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
	err := sink.Deliver(t, Type(), options(sink.Says(t, 429, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 14","parameters":{"retry_after":14}}`).URL), triggertest.Request("nginx"))
	var limited *sdk.RateLimitedError
	if !errors.As(err, &limited) || limited.After != 14*time.Second {
		t.Errorf("%#v", err)
	}
}

// The token is in the path of the address: whatever fails, it is not told.
func TestTokenIsNotTold(t *testing.T) {
	redirect := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:9/bot"+token+"/sendMessage", http.StatusTemporaryRedirect))
	defer redirect.Close()
	for name, address := range map[string]string{
		"unreachable": plugintest.Unreachable(t),
		"redirected":  redirect.URL,
		"repeated":    sink.Says(t, 400, `{"ok":false,"description":"no method at /bot`+token+`/ for `+chatID+`"}`).URL,
		"escaped":     sink.Says(t, 502, url.QueryEscape(token)).URL,
		"no host":     "http://nosuchhost.invalid",
	} {
		err := sink.Deliver(t, Type(), options(address), triggertest.Request("nginx"))
		if err == nil || strings.Contains(err.Error(), "recognisable") || strings.Contains(err.Error(), "1001234567890") {
			t.Errorf("%s: %v", name, err)
		}
		triggertest.LeaksNothing(t, Type(), options(address))
	}
}

// WUD takes socks:// for socks5://.
func TestProxies(t *testing.T) {
	proxy := sink.New(t, func(sink.Call) (int, string) { return http.StatusOK, `{"ok":true}` })
	all := options("http://api.telegram.invalid")
	all["proxy"] = proxy.URL
	if err := sink.Deliver(t, Type(), all, triggertest.Request("nginx")); err != nil {
		t.Error(err)
	}
	if uri := proxy.Last(t).URI; !strings.HasPrefix(uri, "http://api.telegram.invalid/bot") {
		t.Errorf("the proxy was asked for %s", uri)
	}
	for _, scheme := range []string{"http", "https", "socks", "socks5", "socks5h"} {
		all["proxy"] = scheme + "://ana:recognisable-password@127.0.0.1:1"
		err := sink.Deliver(t, Type(), all, triggertest.Request("nginx"))
		if !errors.Is(err, sdk.ErrUnavailable) || strings.Contains(err.Error(), "recognisable") {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

// Whatever the text, Telegram reads from the markup what was to be said.
func FuzzText(f *testing.F) {
	f.Add("*title*", `body \ <b>&amp;</b> _ - . ! 🐕`)
	f.Add("", strings.Repeat("&", 5000))
	f.Fuzz(func(t *testing.T, title, body string) {
		text := chat.Of(trigger.Request{Title: title, Body: body}, false)
		for _, m := range []markup{markdown, html} {
			plain, err := read(m.mode, m.text(text))
			if err != nil {
				t.Fatalf("%s: %v", m.mode, err)
			}
			if problem := unfit(plain); problem != "" {
				t.Errorf("%s: %s", m.mode, problem)
			}
			if whole := chat.Join(text.Title, text.Body); chat.Units(whole) <= maxText && plain != whole {
				t.Errorf("%s: %q, want %q", m.mode, plain, whole)
			}
		}
	})
}
