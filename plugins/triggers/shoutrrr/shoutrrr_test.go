package shoutrrr

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

// webHook is the URL of a web hook at an address.
func webHook(address string) string {
	return "generic+" + address + "/hooks/recognisable-hook?template=json&@X-Api-Key=recognisable-key"
}

func options(address string) map[string]any { return map[string]any{"url": webHook(address)} }

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return options(plugintest.Responding(t, http.StatusOK)) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: append(triggertest.HTTPFailures(options),
			triggertest.Failure{Name: "refused with a success", Kind: &sdk.InvalidError{},
				Options: func(t *testing.T) map[string]any {
					return map[string]any{
						"url": strings.Replace(plugintest.Responding(t, http.StatusOK), "http://", "gotify://", 1) +
							"/AbcdefGhijklmno?disabletls=yes",
					}
				}},
			triggertest.Failure{Name: "one of two", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				return map[string]any{
					"urls": []any{webHook(plugintest.Responding(t, http.StatusForbidden)), webHook(plugintest.Unreachable(t))},
				}
			}},
		),
		Invalid: []triggertest.Invalid{
			{Field: "url", Set: map[string]any{"url": nil}},
			{Field: "urls", Set: map[string]any{"urls": "generic://recognisable-host"}},
			{Field: "url", Set: map[string]any{"url": "recognisable-token"}},
			{Field: "url", Set: map[string]any{"url": "recognisable-scheme://host"}},
			{Field: "url", Set: map[string]any{"url": "smtp://ana:recognisable-password@host/?from=a@b&to=c@d"}},
			{Field: "url", Set: map[string]any{"url": "telegram+https://recognisable-token@telegram"}},
			{Field: "url", Set: map[string]any{"url": "telegram://recognisable-mistake@telegram?chats=1"}},
			{Field: "url", Set: map[string]any{"url": "discord://recognisable%zz@1"}},
			{
				Field: "urls",
				Set:   map[string]any{"url": nil, "urls": []any{"generic://example.org", "nosuch://recognisable-secret"}},
			},
		},
	})
}

// secret is part of each URL below.
const secret = "abcdef0123456789"

// urls are one URL for each scheme, and what its service responds on success.
var urls = map[string]struct{ url, response string }{
	"bark":       {"bark://:" + secret + "@bark.example.org", `{"code":200,"message":"success"}`},
	"discord":    {"discord://" + secret + "@123456789012345678", `{}`},
	"generic":    {"generic://hooks.example.org/" + secret + "?template=json", `{}`},
	"googlechat": {"googlechat://chat.googleapis.com/v1/spaces/FOO/messages?key=" + secret + "&token=" + secret, `{}`},
	"gotify":     {"gotify://gotify.example.org/A" + secret[:14], `{"id":1}`},
	"hangouts":   {"hangouts://chat.googleapis.com/v1/spaces/FOO/messages?key=" + secret + "&token=" + secret, `{}`},
	"ifttt":      {"ifttt://" + secret + "/?events=update&messagevalue=1", `{}`},
	"join":       {"join://shoutrrr:" + secret + "@join/?devices=phone", `{"success":true}`},
	"lark":       {"lark://open.larksuite.com/" + secret, `{"code":0}`},
	"matrix": {"matrix://:" + secret + "@matrix.example.org",
		`{"joined_rooms":["!room:example.org"],"event_id":"$1"}`},
	"mattermost": {"mattermost://mattermost.example.org/" + secret, `ok`},
	"notifiarr":  {"notifiarr://" + secret + "?channel=123456789", `{"result":"success"}`},
	"ntfy":       {"ntfy://:" + secret + "@ntfy.example.org/topic", `{"id":"1"}`},
	"opsgenie":   {"opsgenie://api.opsgenie.com/" + secret, `{}`},
	"pagerduty":  {"pagerduty:///" + secret + secret, `{"status":"success"}`},
	"pushbullet": {"pushbullet://o." + secret + secret, ""}, // it responds with what it got
	"pushover":   {"pushover://shoutrrr:" + secret + "@" + secret + "/", `{"status":1}`},
	"rocketchat": {"rocketchat://rocket.example.org/" + secret + "/" + secret, `{"success":true}`},
	"signal":     {"signal://ana:" + secret + "@signal.example.org:8080/+1234567890/+1987654321", `{"timestamp":1}`},
	"slack":      {"slack://hook:AAAAAAAAA-BBBBBBBBB-" + secret + "01234567@webhook", `ok`},
	"teams": {"teams://?host=" +
		url.QueryEscape("https://prod-00.westus.logic.azure.com:443/workflows/"+secret+secret+
			"/triggers/manual/paths/invoke?api-version=2016-06-01&sig="+secret), ``},
	"telegram": {"telegram://123456789:AAaa" + secret + "-" + secret[:14] + "@telegram?chats=42",
		`{"ok":true,"result":{}}`},
	"twilio": {"twilio://AC" + secret + ":" + secret + "@+15551234567/+15559876543", `{"sid":"1"}`},
	"wecom":  {"wecom://" + secret, `{"errcode":0}`},
	"zulip":  {"zulip://bot%40example.org:" + secret + "@zulip.example.org?stream=s&topic=t", `{"result":"success"}`},
}

// Every service gets the title and the text, through the proxy, for any text;
// failures have their kind, and show no secret.
func TestServices(t *testing.T) {
	n := startInternet(t)
	for _, scheme := range schemes() {
		t.Run(scheme, func(t *testing.T) {
			s, known := urls[scheme]
			if !known {
				t.Fatal("add a URL to the test")
			}
			for name, req := range golden.Requests() {
				n.set(http.StatusOK, s.response)
				if scheme == "pushbullet" {
					n.set(http.StatusOK, fmt.Sprintf(`{"type":"note","active":true,"title":%q,"body":%q}`, req.Title, req.Body))
				}
				if err := sink.Deliver(t, Type(), n.options(s.url), req); err != nil &&
					(scheme != "pushbullet" || name == "simple") {
					t.Errorf("%s: %v", name, err)
				}
				calls := n.seen()
				if len(calls) == 0 {
					t.Fatalf("%s: nothing arrived", name)
				}
				if last := calls[len(calls)-1]; name == "simple" &&
					(!strings.Contains(last.text, req.Title) || !strings.Contains(last.text, req.Body)) {
					t.Errorf("title or text is missing in %s", last.text)
				}
			}
			for status, kind := range map[int]error{
				401: sdk.ErrUnauthorized, 429: &sdk.RateLimitedError{}, 500: sdk.ErrUnavailable,
			} {
				n.set(status, "")
				err := sink.Deliver(t, Type(), n.options(s.url), triggertest.Request("nginx"))
				var limited *sdk.RateLimitedError
				if err == nil || !errors.Is(err, kind) && (status != 429 || !errors.As(err, &limited)) {
					t.Errorf("%d: %v", status, err)
				}
				if err != nil && strings.Contains(err.Error(), secret[:12]) {
					t.Errorf("%d: the error shows the secret: %v", status, err)
				}
				if calls := n.seen(); status != 401 && len(calls) > 1 {
					t.Errorf("%d: %d requests", status, len(calls))
				}
			}
		})
	}
	if len(urls) != len(schemes()) || !slices.IsSorted(schemes()) {
		t.Error("the schemes are not those of the test, or not in order")
	}
}

// Whatever its length, no text is refused by the library for it.
func TestLongTextsAreCut(t *testing.T) {
	n := startInternet(t)
	for _, scheme := range schemes() {
		for _, letter := range []string{"x", "é", "🐕"} {
			if scheme == "pushbullet" {
				continue // compares the response with the text, and has no limit
			}
			n.set(http.StatusOK, urls[scheme].response)
			req := trigger.Request{Title: strings.Repeat(letter, 300), Body: strings.Repeat(letter+" ", 40000)}
			if err := sink.Deliver(t, Type(), n.options(urls[scheme].url), req); err != nil {
				t.Errorf("%s: %v", scheme, err)
			}
			total := 0
			for _, c := range n.seen() {
				total += len(c.text)
			}
			if s, _ := serviceOf(scheme); s.limit < long && total > 20*(s.limit+2000) {
				t.Errorf("%s: %d bytes for a limit of %d", scheme, total, s.limit)
			}
		}
	}
}

func TestDisableTitle(t *testing.T) {
	n := startInternet(t)
	req := triggertest.Request("nginx")
	for _, scheme := range []string{"gotify", "rocketchat"} {
		n.set(http.StatusOK, urls[scheme].response)
		set := n.options(urls[scheme].url)
		set["disabletitle"] = true
		if err := sink.Deliver(t, Type(), set, req); err != nil {
			t.Fatal(err)
		}
		if text := n.seen()[0].text; strings.Contains(text, req.Title) || !strings.Contains(text, req.Body) {
			t.Errorf("%s: %s", scheme, text)
		}
	}
}

// A web hook gets the title in its JSON, or above its text.
func TestWebHook(t *testing.T) {
	n := startInternet(t)
	for query, want := range map[string]string{
		"?template=json":              `{"message":"text\ntext","title":"title"}`,
		"?template=json&titlekey=who": `{"message":"text\ntext","who":"title"}`,
		"":                            "title\n\ntext\ntext",
	} {
		n.set(http.StatusOK, "")
		req := trigger.Request{Title: "title", Body: "text\ntext\n"}
		if err := sink.Deliver(t, Type(), n.options("generic+https://hooks.example.org/path"+query), req); err != nil {
			t.Fatal(err)
		}
		if got := n.seen()[0]; got.host != "hooks.example.org" || got.path != "/path" ||
			!strings.Contains(strings.ReplaceAll(got.text, `\\n`, `\n`), want) {
			t.Errorf("%s: %+v, want %s", query, got, want)
		}
	}
}

// hook is a web hook that responds with status, and counts what it gets.
func hook(t *testing.T) (address string, status, got *atomic.Int64) {
	status, got = &atomic.Int64{}, &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		code := int(status.Load())
		if code == http.StatusOK {
			got.Add(1)
		}
		w.WriteHeader(code)
	}))
	t.Cleanup(s.Close)
	return s.URL, status, got
}

// A service that got the message does not get it again when another one failed.
func TestRetrySendsNoDuplicates(t *testing.T) {
	one, oneStatus, oneGot := hook(t)
	two, twoStatus, twoGot := hook(t)
	s, err := Type().New(sdk.Env{}, map[string]any{"urls": []any{"generic+" + one, "generic+" + two}})
	if err != nil {
		t.Fatal(err)
	}
	req := triggertest.Request("nginx")
	steps := []struct {
		one, two         int64 // what they respond with
		delivery         string
		gotOne, gotTwo   int64 // what they have got by then
		fails, retryable bool
	}{
		{503, 503, "1", 0, 0, true, true},
		{200, 503, "1", 1, 0, true, true},
		{503, 503, "1", 1, 0, true, true},
		{200, 403, "1", 1, 0, true, false},
		{200, 200, "1", 1, 1, false, false},
		{200, 200, "2", 2, 2, false, false},
		{200, 200, "1", 3, 3, false, false}, // finished, so forgotten
		{403, 503, "3", 3, 3, true, true},
		{200, 503, "", 4, 3, true, true},
		{200, 200, "", 5, 4, false, false},
	}
	for i, step := range steps {
		oneStatus.Store(step.one)
		twoStatus.Store(step.two)
		req.Delivery = step.delivery
		err := s.Run(t.Context(), req)
		if (err != nil) != step.fails || sdk.Retryable(err) != step.retryable || oneGot.Load() != step.gotOne ||
			twoGot.Load() != step.gotTwo {
			t.Errorf("step %d: %v, got %d and %d", i, err, oneGot.Load(), twoGot.Load())
		}
		if i == 0 &&
			(!strings.Contains(err.Error(), "item 1: generic: ") || !strings.Contains(err.Error(), "item 2: generic: ")) {
			t.Errorf("the error does not name both: %v", err)
		}
	}
	p := s.(*shoutrrr).sent
	for i := range 2 * maxUnfinished {
		p.add(fmt.Sprint("delivery", i), 0)
	}
	if len(p.unfinished) != maxUnfinished || p.has("delivery0", 0) ||
		!p.has(fmt.Sprint("delivery", 2*maxUnfinished-1), 0) {
		t.Errorf("%d deliveries are remembered", len(p.unfinished))
	}
}

func TestLists(t *testing.T) {
	tests := []struct {
		items, want []string
	}{
		{nil, nil},
		{[]string{"a://x", "b://y"}, []string{"a://x", "b://y"}},
		{[]string{"telegram://t@telegram?chats=1", "2", "3", "b://y"},
			[]string{"telegram://t@telegram?chats=1,2,3", "b://y"}},
		{[]string{"a://x b://y\nc://z"}, []string{"a://x", "b://y", "c://z"}},
		{[]string{"nothing"}, []string{"nothing"}},
	}
	for _, test := range tests {
		if got := split(test.items); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.items, got, test.want)
		}
	}
}

func TestUnknownSchemes(t *testing.T) {
	for scheme, want := range map[string]string{
		"smtp": "use the trigger smtp", "mqtts": "use the trigger mqtt", "logger": "use the trigger mock",
		"script":  "use the trigger command",
		"discrod": "did you mean discord://", "xxxxxxxxxxxxxxxxxxxx": "generic+https://",
	} {
		_, err := Type().New(sdk.Env{}, map[string]any{"url": scheme + "://user:password@host"})
		if err == nil || !strings.HasPrefix(err.Error(), "url: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", scheme, err, want)
		}
	}
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := Type().New(sdk.Env{}, options(plugintest.Hanging(t, cancel)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(ctx, triggertest.Request("nginx")); !errors.Is(err, context.Canceled) || sdk.Retryable(err) {
		t.Errorf("%v, want only context.Canceled", err)
	}
	again, err := Type().New(sdk.Env{}, map[string]any{
		"url": webHook(plugintest.Hanging(t, func() {})), "timeout": "50ms",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Run(t.Context(), triggertest.Request("nginx")); !errors.Is(err, sdk.ErrUnavailable) ||
		!strings.Contains(err.Error(), "50ms") {
		t.Errorf("%v, want the timeout", err)
	}
}
