package matrix

import (
	"errors"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const (
	token = "recognisable-token"
	room  = "!abc/def:example.org"
)

func options(url string) map[string]any {
	return map[string]any{"url": url, "accesstoken": token, "roomid": room}
}

func TestConformance(t *testing.T) {
	for name, room := range map[string]string{"id": room, "alias": "#updates:example.org"} {
		t.Run(name, func(t *testing.T) {
			options := func(url string) map[string]any {
				return map[string]any{"url": url, "accesstoken": token, "roomid": room}
			}
			triggertest.Run(t, Type(), triggertest.Case{
				Options: func(t *testing.T) map[string]any { return options(service(t).URL) },
				Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
				Failing: triggertest.HTTPFailures(options),
				Invalid: []triggertest.Invalid{
					{Field: "url", Set: map[string]any{"url": "matrix://host"}},
					{Field: "accesstoken", Set: map[string]any{"accesstoken": "recognisable\ntoken"}},
					{Field: "roomid", Set: map[string]any{"roomid": "updates"}},
					{Field: "roomid", Set: map[string]any{"roomid": "#updates"}},
					{Field: "msgtype", Set: map[string]any{"msgtype": "m.image"}},
					{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
				},
			})
		})
	}
}

// service plays a homeserver: it refuses what one refuses.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		switch problem := wrong(c); {
		case c.Header.Get("Authorization") != "Bearer "+token:
			return http.StatusUnauthorized, `{"errcode":"M_UNKNOWN_TOKEN","error":"Invalid access token passed."}`
		case c.Method == "GET" && c.URI == "/_matrix/client/v3/directory/room/"+url.PathEscape("#updates:example.org"):
			return http.StatusOK, `{"room_id":"` + room + `","servers":["example.org"]}`
		case len(c.Body) > 65_536-2_000:
			return http.StatusRequestEntityTooLarge, `{"errcode":"M_TOO_LARGE","error":"event too large"}`
		case problem != "":
			return http.StatusBadRequest, `{"errcode":"M_BAD_JSON","error":"` + problem + `"}`
		}
		return http.StatusOK, `{"event_id":"$1"}`
	})
}

// markup is what the tests' messages have of the tags that clients show:
// https://spec.matrix.org/latest/client-server-api/#mroommessage-msgtypes.
var markup = regexp.MustCompile(`^(?:<strong>([^<>]*)</strong>)?((?:<br>|[^<>])*)$`)

// wrong says what is wrong with a request, by the specification.
func wrong(c sink.Call) string {
	var m struct {
		MsgType       string `json:"msgtype"`
		Body          string `json:"body"`
		Format        string `json:"format"`
		FormattedBody string `json:"formatted_body"`
	}
	room, transaction, found := strings.Cut(strings.TrimPrefix(c.URI, "/_matrix/client/v3/rooms/"), "/send/m.room.message/")
	problem := c.Strict(&m)
	switch {
	case c.Method != "PUT" || !found || room != "%21abc%2Fdef:example.org" && room != url.PathEscape("!abc/def:example.org"):
		return "room"
	case transaction == "" || len(transaction) > 255 || strings.Contains(transaction, "/"):
		return "transaction"
	case problem != "":
		return problem
	case m.MsgType != "m.text" && m.MsgType != "m.notice" || strings.TrimSpace(m.Body) == "" || m.Format != "org.matrix.custom.html":
		return "content"
	}
	if !markup.MatchString(m.FormattedBody) || strings.Contains(m.FormattedBody, "\n") {
		return "formatted_body"
	}
	plain := strings.NewReplacer("<strong>", "", "</strong>", "", "<br>", "\n").Replace(m.FormattedBody)
	if html.UnescapeString(plain) != m.Body {
		return "formatted_body says something else than body"
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
		"none":   {nil, `{"msgtype":"m.text","body":"<T>\n\na\n&","format":"org.matrix.custom.html","formatted_body":"<strong>&lt;T&gt;</strong><br><br>a<br>&amp;"}`},
		"title":  {map[string]any{"disabletitle": true}, `{"msgtype":"m.text","body":"a\n&","format":"org.matrix.custom.html","formatted_body":"a<br>&amp;"}`},
		"notice": {map[string]any{"msgtype": "M.Notice", "disabletitle": true}, `{"msgtype":"m.notice","body":"a\n&","format":"org.matrix.custom.html","formatted_body":"a<br>&amp;"}`},
	}
	for name, test := range tests {
		s := service(t)
		all := options(s.URL + "/")
		maps.Copy(all, test.set)
		if err := sink.Deliver(t, Type(), all, trigger.Request{Title: "<T>", Body: "a\n&"}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(s.Last(t).Body); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// A delivery that is tried again is the same transaction; any other is not.
func TestTransactions(t *testing.T) {
	one := triggertest.Request("nginx")
	var all []string
	for _, change := range []func(*trigger.Request){
		func(*trigger.Request) {},
		func(r *trigger.Request) { r.Delivery = "delivery-2" },
		func(r *trigger.Request) { r.Body = "another" },
		func(r *trigger.Request) { r.Title = "another" },
		func(r *trigger.Request) { r.Delivery = "" },
		func(r *trigger.Request) { r.Delivery = "" },
	} {
		req := one
		change(&req)
		id := transaction(req)
		if slices.Contains(all, id) {
			t.Errorf("%q comes again", id)
		}
		all = append(all, id)
		if again := transaction(req); (again == id) != (req.Delivery != "") {
			t.Errorf("%q, then %q", id, again)
		}
	}
}

func TestAlias(t *testing.T) {
	s := service(t)
	all := options(s.URL)
	all["roomid"] = "#updates:example.org"
	if err := sink.Deliver(t, Type(), all, triggertest.Request("nginx")); err != nil {
		t.Fatal(err)
	}
	if calls := s.Calls(); len(calls) != 2 || calls[0].Method != "GET" || !strings.HasPrefix(calls[1].URI, "/_matrix/client/v3/rooms/"+url.PathEscape(room)+"/send/") {
		t.Errorf("%+v", calls)
	}
	all["url"] = sink.Says(t, 200, "<html>").URL
	err := sink.Deliver(t, Type(), all, triggertest.Request("nginx"))
	var invalid *sdk.InvalidError
	if !errors.As(err, &invalid) || invalid.Fields[0].Field != "url" {
		t.Errorf("%#v", err)
	}
}

func TestLimits(t *testing.T) {
	for name, body := range map[string]string{
		"ascii":  strings.Repeat("x", 70_000),
		"lines":  strings.Repeat("x\n", 70_000),
		"quotes": strings.Repeat(`"`, 70_000),
		"dogs":   strings.Repeat("🐕", 70_000),
		"<":      strings.Repeat("<", 70_000),
	} {
		c, err := (&matrix{msgType: "m.text"}).content(chat.Message{Title: "T", Body: body})
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := httpclient.EncodeJSON(c)
		if err != nil || len(encoded) > maxContentBytes || len(encoded) < maxContentBytes-20 {
			t.Errorf("%s: %d bytes, %v", name, len(encoded), err)
		}
		if !strings.HasSuffix(c.Body, "…") || !strings.HasSuffix(c.FormattedBody, "…") {
			t.Errorf("%s: the cut is not shown", name)
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
		"token":     {401, `{"errcode":"M_UNKNOWN_TOKEN","error":"Invalid access token passed.","soft_logout":false}`, sdk.ErrUnauthorized, "", "M_UNKNOWN_TOKEN: Invalid access token passed.; check accesstoken"},
		"forbidden": {403, `{"errcode":"M_FORBIDDEN","error":"User not in room"}`, sdk.ErrUnauthorized, "", "User not in room; check roomid, and that the user has joined"},
		"room":      {404, `{"errcode":"M_NOT_FOUND","error":"Room alias not found"}`, nil, "roomid", "Room alias not found"},
		"path":      {404, `{"errcode":"M_UNRECOGNIZED","error":"Unrecognized request"}`, nil, "url", "Unrecognized request"},
		"too large": {413, `{"errcode":"M_TOO_LARGE","error":"event too large"}`, nil, "", "event too large"},
		"server":    {500, `{"errcode":"M_UNKNOWN","error":"Internal server error"}`, sdk.ErrUnavailable, "", "Internal server error"},
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
	err := sink.Deliver(t, Type(), options(sink.Says(t, 429, `{"errcode":"M_LIMIT_EXCEEDED","error":"Too Many Requests","retry_after_ms":2500}`).URL), triggertest.Request("nginx"))
	var limited *sdk.RateLimitedError
	if !errors.As(err, &limited) || limited.After != 2500*time.Millisecond {
		t.Errorf("%#v", err)
	}
}

func FuzzContent(f *testing.F) {
	f.Add("title", "<b>body</b>\n&amp;")
	f.Fuzz(func(t *testing.T, title, body string) {
		c, err := (&matrix{msgType: "m.text"}).content(chat.Of(trigger.Request{Title: title, Body: body}, false))
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := httpclient.EncodeJSON(c)
		if err != nil || len(encoded) > maxContentBytes {
			t.Errorf("%d bytes, %v", len(encoded), err)
		}
		call := sink.Call{Method: "PUT", URI: "/_matrix/client/v3/rooms/" + url.PathEscape(room) + "/send/m.room.message/1", Body: encoded}
		if problem := wrong(call); problem != "" {
			t.Errorf("%s: %s", problem, encoded)
		}
	})
}
