package matrix

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
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

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Options: options, Service: service}
}

func TestConformance(t *testing.T) {
	for name, room := range map[string]string{"id": room, "alias": "#updates:example.org"} {
		t.Run(name, func(t *testing.T) {
			triggertest.Run(t, Type(), subject().With(map[string]any{"roomid": room}).Case([]triggertest.Invalid{
				{Field: "url", Set: map[string]any{"url": "matrix://host"}},
				{Field: "accesstoken", Set: map[string]any{"accesstoken": "recognisable\ntoken"}},
				{Field: "roomid", Set: map[string]any{"roomid": "updates"}},
				{Field: "roomid", Set: map[string]any{"roomid": "#updates"}},
				{Field: "msgtype", Set: map[string]any{"msgtype": "m.image"}},
				{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
			}))
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
var markup = regexp.MustCompile(`^(?:<strong>([^<>]*)</strong>)?((?:<br>|<a href="[^<>"]*">[^<>]*</a>|[^<>])*)$`)

var linkTag = regexp.MustCompile(`<a href="([^<>"]*)">([^<>]*)</a>`)

// wrong says what is wrong with a request, by the specification.
func wrong(c sink.Call) string {
	var m struct {
		MsgType       string `json:"msgtype"`
		Body          string `json:"body"`
		Format        string `json:"format"`
		FormattedBody string `json:"formatted_body"`
	}
	room, transaction, found := strings.Cut(strings.TrimPrefix(c.URI, "/_matrix/client/v3/rooms/"),
		"/send/m.room.message/")
	problem := c.Strict(&m)
	switch {
	case c.Method != "PUT" || !found ||
		room != "%21abc%2Fdef:example.org" && room != url.PathEscape("!abc/def:example.org"):
		return "room"
	case transaction == "" || len(transaction) > 255 || strings.Contains(transaction, "/"):
		return "transaction"
	case problem != "":
		return problem
	case m.MsgType != "m.text" && m.MsgType != "m.notice" || strings.TrimSpace(m.Body) == "" ||
		m.Format != "org.matrix.custom.html":
		return "content"
	}
	if !markup.MatchString(m.FormattedBody) || strings.Contains(m.FormattedBody, "\n") {
		return "formatted_body"
	}
	plain := strings.NewReplacer("<strong>", "", "</strong>", "", "<br>",
		"\n").Replace(linkTag.ReplaceAllString(m.FormattedBody, "$2: $1"))
	if html.UnescapeString(plain) != m.Body {
		return "formatted_body says something else than body"
	}
	return ""
}

func TestPayloads(t *testing.T) { subject().Payloads(t, "*.json") }

func TestOptions(t *testing.T) {
	subject().At("/").Bodies(t, trigger.Request{Title: "<T>", Body: "a\n&"}, map[string]sink.Body{
		"none": {
			Want: `{"msgtype":"m.text","body":"<T>\n\na\n&","format":"org.matrix.custom.html","formatted_body":"<strong>&lt;T&gt;</strong><br><br>a<br>&amp;"}`,
		},
		"title": {
			Set:  map[string]any{"disabletitle": true},
			Want: `{"msgtype":"m.text","body":"a\n&","format":"org.matrix.custom.html","formatted_body":"a<br>&amp;"}`,
		},
		"notice": {
			Set:  map[string]any{"msgtype": "M.Notice", "disabletitle": true},
			Want: `{"msgtype":"m.notice","body":"a\n&","format":"org.matrix.custom.html","formatted_body":"a<br>&amp;"}`,
		},
	})
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
	if calls := s.Calls(); len(calls) != 2 || calls[0].Method != "GET" ||
		!strings.HasPrefix(calls[1].URI, "/_matrix/client/v3/rooms/"+url.PathEscape(room)+"/send/") {
		t.Errorf("%+v", calls)
	}
	subject().With(map[string]any{"roomid": "#updates:example.org"}).ServiceErrors(t, map[string]sink.ServiceError{
		"page": {Status: 200, Response: "<html>", Option: "url"},
	})
}

func TestLimits(t *testing.T) {
	for name, body := range map[string]string{
		"ascii":  strings.Repeat("x", 70_000),
		"lines":  strings.Repeat("x\n", 70_000),
		"quotes": strings.Repeat(`"`, 70_000),
		"dogs":   strings.Repeat("🐕", 70_000),
		"<":      strings.Repeat("<", 70_000),
	} {
		c, err := (&matrix{msgType: "m.text"}).content(chat.Message{Title: "T", Body: body}, trigger.Request{})
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

func TestServiceErrors(t *testing.T) {
	subject().ServiceErrors(t, map[string]sink.ServiceError{
		"token": {
			Status:   401,
			Response: `{"errcode":"M_UNKNOWN_TOKEN","error":"Invalid access token passed.","soft_logout":false}`,
			Kind:     sdk.ErrUnauthorized, Want: "M_UNKNOWN_TOKEN: Invalid access token passed.; check accesstoken",
		},
		"forbidden": {
			Status: 403, Response: `{"errcode":"M_FORBIDDEN","error":"User not in room"}`, Kind: sdk.ErrUnauthorized,
			Want: "User not in room; check roomid, and that the user has joined",
		},
		"room": {
			Status: 404, Response: `{"errcode":"M_NOT_FOUND","error":"Room alias not found"}`, Option: "roomid",
			Want: "Room alias not found",
		},
		"path": {
			Status: 404, Response: `{"errcode":"M_UNRECOGNIZED","error":"Unrecognized request"}`, Option: "url",
			Want: "Unrecognized request",
		},
		"too large": {Status: 413, Response: `{"errcode":"M_TOO_LARGE","error":"event too large"}`, Want: "event too large"},
		"server": {
			Status: 500, Response: `{"errcode":"M_UNKNOWN","error":"Internal server error"}`, Kind: sdk.ErrUnavailable,
			Want: "Internal server error",
		},
		"limit": {
			Status: 429, Response: `{"errcode":"M_LIMIT_EXCEEDED","error":"Too Many Requests","retry_after_ms":2500}`,
			Kind: sdk.RateLimited(2500*time.Millisecond, nil), Want: "Too Many Requests",
		},
	})
}

func FuzzContent(f *testing.F) {
	f.Add("title", "<b>body</b>\n&amp;")
	f.Fuzz(func(t *testing.T, title, body string) {
		c, err := (&matrix{msgType: "m.text"}).content(chat.Of(trigger.Request{Title: title, Body: body}, false),
			trigger.Request{})
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := httpclient.EncodeJSON(c)
		if err != nil || len(encoded) > maxContentBytes {
			t.Errorf("%d bytes, %v", len(encoded), err)
		}
		call := sink.Call{
			Method: "PUT", URI: "/_matrix/client/v3/rooms/" + url.PathEscape(room) + "/send/m.room.message/1", Body: encoded,
		}
		if problem := wrong(call); problem != "" {
			t.Errorf("%s: %s", problem, encoded)
		}
	})
}

// Each attempt has links of its own, which make no other transaction.
func TestLinksAreNoOtherTransaction(t *testing.T) {
	request := func(token string) trigger.Request {
		address := "https://h/decide/" + token
		return trigger.Request{
			Delivery: "1", Title: "T", Body: "see " + address,
			Actions: []trigger.Action{{Kind: trigger.ActionSkip, URL: address}},
		}
	}
	if transaction(request("a")) != transaction(request("b")) {
		t.Error("two attempts are two transactions")
	}
}
