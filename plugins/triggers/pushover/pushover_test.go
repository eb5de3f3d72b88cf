package pushover

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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
	return map[string]any{"url": url, "user": user, "token": token}
}

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Options: options, Service: service, Show: lines}
}

func TestConformance(t *testing.T) {
	c := subject().Case([]triggertest.Invalid{
		{Field: "retry", Set: map[string]any{"priority": 2, "expire": 60}},
		{Field: "expire", Set: map[string]any{"priority": 2, "retry": 60}},
		{Field: "retry", Set: map[string]any{"priority": 2, "expire": 60, "retry": 29}},
		{Field: "expire", Set: map[string]any{"priority": 2, "expire": 10801, "retry": 30}},
		{Field: "monospace", Set: map[string]any{"html": 1, "monospace": 1}},
		{Field: "ttl", Set: map[string]any{"ttl": -1}},
	})
	failing := func(name string, kind error, set map[string]any) triggertest.Failure {
		return triggertest.Failure{Name: name, Kind: kind, Options: subject().With(set).Working}
	}
	c.Failing = append(c.Failing,
		failing("wrong user", sdk.ErrUnauthorized, map[string]any{"user": "recognisable-nobody"}),
		failing("wrong token", sdk.ErrUnauthorized, map[string]any{"token": "recognisable-mistake"}),
		failing("wrong device", &sdk.InvalidError{}, map[string]any{"device": "phone,fridge"}),
		failing("over quota", &sdk.RateLimitedError{}, map[string]any{"sound": "quota"}),
		triggertest.Failure{Name: "something else", Options: func(t *testing.T) map[string]any {
			return options(plugintest.Responding(t, http.StatusOK))
		}},
	)
	triggertest.Run(t, Type(), c)
}

// form is the form that was sent; empty for none.
func form(c sink.Call) url.Values {
	f, err := url.ParseQuery(string(c.Body))
	if err != nil {
		return nil
	}
	return f
}

// service plays the Pushover API: it refuses what the real one refuses.
func service(t testing.TB) *sink.Sink {
	return sink.Serve(t, func(w http.ResponseWriter, c sink.Call) {
		status, response := http.StatusOK, `{"status":1,"request":"r"}`
		switch field, problem := wrong(c); {
		case c.Method != "POST" || c.URI != "/1/messages.json":
			status, response = http.StatusNotFound, ""
		case problem != "":
			status, response = http.StatusBadRequest, fmt.Sprintf(`{%s"errors":[%q],"status":0,"request":"r"}`, field, problem)
		case form(c).Get("sound") == "quota":
			w.Header().Set("X-Limit-App-Limit", "10000")
			w.Header().Set("X-Limit-App-Remaining", "0")
			w.Header().Set("X-Limit-App-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
			status, response = http.StatusTooManyRequests, `{"errors":["application is over its quota"],"status":0}`
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, response)
	})
}

// wrong says what is wrong with a form, and about a field what the response has of it.
func wrong(c sink.Call) (field, problem string) {
	f := form(c)
	long := func(name string, limit int) bool { return utf8.RuneCountInString(f.Get(name)) > limit }
	switch {
	case c.Header.Get("Content-Type") != "application/x-www-form-urlencoded":
		return "", "no form"
	case f.Get("token") != token:
		return `"token":"invalid",`, "application token is invalid, not " + f.Get("token")
	case f.Get("user") != user:
		return `"user":"invalid",`, "user identifier is not a valid user, not " + f.Get("user")
	case strings.Contains(f.Get("device"), "fridge"):
		return `"device":"invalid for this user",`, "device name is not valid for user"
	case strings.TrimSpace(f.Get("message")) == "":
		return `"message":"cannot be blank",`, "message cannot be blank"
	case long("message", 1024), long("title", 250), long("url", 512), long("url_title", 100):
		return "", "too long"
	case f.Get("html") == "1" && f.Get("monospace") == "1":
		return "", "html and monospace cannot both be set"
	case f.Get("priority") == "2" && (f.Get("retry") == "" || f.Get("expire") == ""):
		return "", "retry and expire must be supplied"
	}
	for name := range f {
		if !slices.Contains([]string{"token", "user", "message", "title", "device", "html", "monospace", "sound",
			"priority", "retry", "expire", "ttl", "url", "url_title", "timestamp"}, name) {
			return "", "unknown parameter " + name
		}
	}
	return "", ""
}

// lines shows a form in the order of its names.
func lines(_ *testing.T, c sink.Call) string {
	f := form(c)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f)) {
		b.WriteString(name + "=" + strings.Join(f[name], "|") + "\n")
	}
	return b.String()
}

func TestPayloads(t *testing.T) {
	for look, set := range map[string]map[string]any{
		"plain": {"device": "phone, tablet", "priority": 2, "retry": 60, "expire": 600},
		"html":  {"html": "1", "ttl": 3600, "priority": -1, "sound": "siren"},
	} {
		subject().At("/").With(set).Payloads(t, look+"-*.form")
	}
}

func TestFields(t *testing.T) {
	tests := []struct {
		set          map[string]any
		want, absent string
	}{
		{nil, "html=0", "priority"},
		{nil, "sound=pushover", "monospace"},
		{map[string]any{"monospace": "1"}, "monospace=1", "html=1"},
		{map[string]any{"ttl": "60"}, "ttl=60", "retry"},
		{map[string]any{"ttl": "60", "priority": 2, "retry": 30, "expire": 1}, "priority=2", "ttl"},
		{map[string]any{"priority": 1, "retry": 30, "expire": 1}, "priority=1", "expire"},
		{map[string]any{"priority": "-2"}, "priority=-2", "device"},
	}
	for _, test := range tests {
		if got := lines(t, subject().With(test.set).Send(t, triggertest.Request("nginx"))); !strings.Contains(got,
			test.want+"\n") || strings.Contains(got, test.absent) {
			t.Errorf("%v: want %s and no %s:\n%s", test.set, test.want, test.absent, got)
		}
	}
}

func TestUrgentPriority(t *testing.T) {
	for set, want := range map[string]string{"0": "priority=1", "-2": "priority=1", "2": "priority=2"} {
		options := map[string]any{"priority": set}
		if set == "2" {
			options["retry"], options["expire"] = 30, 60
		}
		req := trigger.Request{Title: "T", Body: "B", Batch: true, Event: &trigger.Event{Type: trigger.UpdateFailed}}
		if got := lines(t, subject().With(options).Send(t, req)); !strings.Contains(got, want+"\n") {
			t.Errorf("priority %s: %s", set, got)
		}
	}
}

// The items of a batch stand close together.
func TestBatchIsCompact(t *testing.T) {
	req := trigger.Request{Batch: true, Title: "2 updates", Body: "- one\nhttps://a\n\n- two\r\n\r\n"}
	if got := (&pushover{}).form(req).Get("message"); got != "- one\nhttps://a\n- two" {
		t.Errorf("%q", got)
	}
	req.Batch = false
	if got := (&pushover{}).form(req).Get("message"); got != req.Body {
		t.Errorf("a single update is changed: %q", got)
	}
}

func TestQuota(t *testing.T) {
	err := sink.Deliver(t, Type(), subject().With(map[string]any{"sound": "quota"}).Working(t),
		triggertest.Request("nginx"))
	var limited *sdk.RateLimitedError
	if !errors.As(err, &limited) || limited.After < 59*time.Minute || limited.After > time.Hour ||
		!strings.Contains(err.Error(), "over its quota") {
		t.Errorf("%v, %+v", err, limited)
	}
	now := time.Unix(1_700_000_000, 0)
	for text, want := range map[string]time.Duration{"": 0, "soon": 0, "1600000000": 0, "1700000060": time.Minute} {
		if got := untilReset(http.Header{"X-Limit-App-Reset": {text}}, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestServiceErrors(t *testing.T) {
	subject().ServiceErrors(t, map[string]sink.ServiceError{
		"token": {
			Set: map[string]any{"token": "wr0ng-s3cret"}, Kind: sdk.ErrUnauthorized,
			Want: "application token is invalid, not ***; check token",
		},
		"user": {
			Set: map[string]any{"user": "wr0ng-s3cret"}, Kind: sdk.ErrUnauthorized,
			Want: "user identifier is not a valid user, not ***; check user and device",
		},
		"device": {
			Set: map[string]any{"device": "fridge"}, Option: "device",
			Want: "device name is not valid for user",
		},
		"no Pushover": {Status: 200, Response: "<html>", Option: "url", Want: "the answer is not that of Pushover"},
		"away":        {Status: 500, Response: `{"errors":["later"]}`, Kind: sdk.ErrUnavailable, Want: "later"},
		"odd":         {Status: 200, Response: `{"status":0,"errors":["not today"]}`, Want: "not today"},
	})
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"a < b && c > d":                         "a &lt; b &amp;&amp; c &gt; d",
		"<b>bold</b> <none>":                     "<b>bold</b> &lt;none&gt;",
		`<font color="#ff0000">x</font>`:         `<font color="#ff0000">x</font>`,
		`<a href="https://x/?a=1&b=2">notes</a>`: `<a href="https://x/?a=1&amp;b=2">notes</a>`,
		`<a href="javascript:x">x</a>`:           `&lt;a href=&#34;javascript:x&#34;&gt;x</a>`,
		`<a href="https://x" onclick="y">`:       `&lt;a href=&#34;https://x&#34; onclick=&#34;y&#34;&gt;`,
		"<script>x</script>":                     "&lt;script&gt;x&lt;/script&gt;",
		"<b":                                     "&lt;b",
		"&lt;":                                   "&amp;lt;",
	} {
		if got := escape(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Whatever the text, the service takes the message.
func FuzzLimits(f *testing.F) {
	f.Add("title", "body", false)
	f.Add(strings.Repeat("é", 251), strings.Repeat("🐕", 1025), false)
	f.Add("", strings.Repeat("<&\"", 1000), true)
	f.Add("\xff", " \n\xff", true)
	f.Fuzz(func(t *testing.T, title, body string, html bool) {
		got := (&pushover{html: html}).form(trigger.Request{Title: title, Body: body, Containers: []sdk.Container{{}}})
		text := got.Get("message")
		if n := utf8.RuneCountInString(text); n < 1 || n > maxMessage || !utf8.ValidString(text) {
			t.Errorf("a message of %d characters: %q", n, text)
		}
		if utf8.RuneCountInString(got.Get("title")) > maxTitle {
			t.Errorf("title %q", got.Get("title"))
		}
	})
}

func TestCutIsTight(t *testing.T) {
	for _, html := range []bool{false, true} {
		p := &pushover{html: html}
		for n := maxMessage - 3; n < maxMessage+3; n++ {
			if got := utf8.RuneCountInString(p.text(strings.Repeat("x", n), false)); got != min(n, maxMessage) {
				t.Errorf("html %v: %d characters became %d", html, n, got)
			}
		}
		if got := utf8.RuneCountInString(p.text(strings.Repeat("&", 2000), false)); got < maxMessage-10 {
			t.Errorf("html %v: only %d characters are used", html, got)
		}
	}
}
