package telegram

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func options(url string) map[string]any {
	return map[string]any{"apiurl": url, "bottoken": token, "chatid": chatID}
}

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Options: options, Service: service}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), subject().Case([]triggertest.Invalid{
		{Field: "bottoken", Set: map[string]any{"bottoken": "recognisable"}},
		{Field: "bottoken", Set: map[string]any{"bottoken": "1:recognisable/../x"}},
		{Field: "messagethreadid", Set: map[string]any{"messagethreadid": 0}},
		{Field: "messageformat", Set: map[string]any{"messageformat": "plain"}},
		{Field: "apiurl", Set: map[string]any{"apiurl": "ftp://host"}},
		{Field: "proxy", Set: map[string]any{"proxy": "socks4://host:1080"}},
		{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
	}))
}

func TestMasks(t *testing.T) {
	sink.Masks(t, Type(), map[string]any{"bottoken": token, "chatid": chatID, "proxy": "socks5://ana:password@proxy:1080"})
}

func TestPayloads(t *testing.T) {
	for _, format := range []string{"markdown", "html"} {
		subject().With(map[string]any{"messageformat": format}).Payloads(t, "*."+format+".json")
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
				var sent payload
				call := subject().With(map[string]any{"messageformat": format, "disabletitle": untitled}).Send(t, req)
				if problem := call.Strict(&sent); problem != "" {
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
	subject().At("/").Bodies(t, trigger.Request{Title: "T", Body: "1.0"}, map[string]sink.Body{
		"none": {Want: `{"chat_id":"-1001234567890","text":"*T*\n\n1\\.0","parse_mode":"MarkdownV2"}`},
		"html": {
			Set:  map[string]any{"messageformat": "html"},
			Want: `{"chat_id":"-1001234567890","text":"<b>T</b>\n\n1.0","parse_mode":"HTML"}`,
		},
		"title": {
			Set:  map[string]any{"disabletitle": "true"},
			Want: `{"chat_id":"-1001234567890","text":"1\\.0","parse_mode":"MarkdownV2"}`,
		},
		"topic": {
			Set:  map[string]any{"messagethreadid": "7"},
			Want: `{"chat_id":"-1001234567890","message_thread_id":7,"text":"*T*\n\n1\\.0","parse_mode":"MarkdownV2"}`,
		},
		"silent": {
			Set:  map[string]any{"disablenotification": true},
			Want: `{"chat_id":"-1001234567890","text":"*T*\n\n1\\.0","parse_mode":"MarkdownV2","disable_notification":true}`,
		},
		"trimmed": {
			Set:  map[string]any{"bottoken": token + "\n", "chatid": " " + chatID},
			Want: `{"chat_id":"-1001234567890","text":"*T*\n\n1\\.0","parse_mode":"MarkdownV2"}`,
		},
		"number": {
			Set:  map[string]any{"chatid": -1001234567890},
			Want: `{"chat_id":"-1001234567890","text":"*T*\n\n1\\.0","parse_mode":"MarkdownV2"}`,
		},
	})
}

// Telegram counts what is left when the markup is read, in UTF-16 code units.
func TestLimits(t *testing.T) {
	const title = "T\n\n"
	for _, m := range []markup{markdown, html} {
		plain := func(body string) string {
			got, err := read(m.mode, m.text(chat.Message{Title: "T", Body: body}))
			if err != nil {
				t.Errorf("%s: %v", m.mode, err)
			}
			return got
		}
		sink.Cuts(t, plain, map[string]sink.Cut{
			"fits":      {Body: strings.Repeat("x", 4093), Want: title + strings.Repeat("x", 4093)},
			"cut":       {Body: strings.Repeat("x", 4094), Want: title + strings.Repeat("x", 4092) + "…"},
			"reserved":  {Body: strings.Repeat(".", 4093), Want: title + strings.Repeat(".", 4093)},
			"too many":  {Body: strings.Repeat(".", 9000), Want: title + strings.Repeat(".", 4092) + "…"},
			"entities":  {Body: strings.Repeat("<&>", 2000), Want: title + strings.Repeat("<&>", 1364) + "…"},
			"backslash": {Body: strings.Repeat(`\`, 9000), Want: title + strings.Repeat(`\`, 4092) + "…"},
			"pairs":     {Body: strings.Repeat("🐕", 2047), Want: title + strings.Repeat("🐕", 2046) + "…"},
			"pairs fit": {Body: strings.Repeat("🐕", 2046), Want: title + strings.Repeat("🐕", 2046)},
		})
	}
}

func TestServiceErrors(t *testing.T) {
	subject().ServiceErrors(t, map[string]sink.ServiceError{
		"token": {
			Status: 401, Response: `{"ok":false,"error_code":401,"description":"Unauthorized"}`,
			Kind: sdk.ErrUnauthorized, Want: "Unauthorized; check bottoken",
		},
		"no token": {
			Status: 404, Response: `{"ok":false,"error_code":404,"description":"Not Found"}`, Kind: sdk.ErrUnauthorized,
			Want: "check bottoken",
		},
		"chat": {
			Status: 400, Response: `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`,
			Option: "chatid", Want: "Bad Request: chat not found",
		},
		"blocked": {
			Status:   403,
			Response: `{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}`,
			Kind:     sdk.ErrUnauthorized, Want: "bot was blocked by the user; check chatid",
		},
		"moved": {
			Status:   400,
			Response: `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-100987654321}}`, Option: "chatid", Want: "another id",
		},
		"topic": {
			Status:   400,
			Response: `{"ok":false,"error_code":400,"description":"Bad Request: message thread not found"}`,
			Option:   "messagethreadid", Want: "thread not found",
		},
		"closed": {
			Status: 400, Response: `{"ok":false,"error_code":400,"description":"Bad Request: TOPIC_CLOSED"}`,
			Option: "messagethreadid", Want: "TOPIC_CLOSED",
		},
		"markup": {
			Status: 400, Response: `{"ok":false,"error_code":400,"description":"Bad Request: can't parse entities"}`,
			Want: "can't parse entities",
		},
		"server": {
			Status: 502, Response: `{"ok":false,"error_code":502,"description":"Bad Gateway"}`,
			Kind: sdk.ErrUnavailable, Want: "Bad Gateway",
		},
		"false":     {Status: 200, Response: `{"ok":false,"description":"Nope"}`, Want: "refused the message: Nope"},
		"elsewhere": {Status: 200, Response: `<html>`, Option: "apiurl", Want: "not that of a Bot API server"},
		"limit": {
			Status:   429,
			Response: `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 14","parameters":{"retry_after":14}}`, Kind: sdk.RateLimited(14*time.Second, nil), Want: "Too Many Requests",
		},
	})
}

// The token is in the path of the address: no error shows it.
func TestTokenIsNotInErrors(t *testing.T) {
	redirect := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:9/bot"+token+"/sendMessage",
		http.StatusTemporaryRedirect))
	defer redirect.Close()
	for name, address := range map[string]string{
		"unreachable": plugintest.Unreachable(t),
		"redirected":  redirect.URL,
		"repeated": sink.RespondWith(t, 400,
			`{"ok":false,"description":"no method at /bot`+token+`/ for `+chatID+`"}`).URL,
		"escaped": sink.RespondWith(t, 502, url.QueryEscape(token)).URL,
		"no host": "http://nosuchhost.invalid",
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
		t.Errorf("the proxy got a request for %s", uri)
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

// A Dogwatch in a home network often has no public name: the message arrives all the same.
func TestButtonsThatTelegramRefuses(t *testing.T) {
	req := triggertest.Request("nginx")
	address := "http://nas:3000/decide/dwl_token"
	req.Actions = []trigger.Action{{
		ContainerID: req.Containers[0].ID, Kind: trigger.ActionSkip, Label: "Skip", URL: address,
	}}
	var sent payload
	if problem := subject().Send(t, req).Strict(&sent); problem != "" {
		t.Fatal(problem)
	}
	if got, err := read(sent.ParseMode, sent.Text); err != nil ||
		!strings.HasSuffix(got, req.Body+"\n\nSkip: "+address) || sent.ReplyMarkup != nil {
		t.Errorf("%q, %v, %v", got, sent.ReplyMarkup, err)
	}
}
