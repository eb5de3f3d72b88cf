// Package matrix sends a message to a room of Matrix, as
// https://spec.matrix.org/latest/client-server-api/#mroommessage describes.
// Texts are plain: nothing in them is markup.
package matrix

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"html"
	"net/http"
	"net/url"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// maxContentBytes leaves some of the 65,536 bytes of an event to what servers
// add to it: https://spec.matrix.org/latest/client-server-api/#size-limits.
const maxContentBytes = 60_000

// Options configures one matrix trigger.
type Options struct {
	URL          *url.URL `option:"url,required" help:"Address of the homeserver, such as https://matrix.org" example:"https://matrix.org"`
	AccessToken  string   `option:"accesstoken,required,secret" help:"Access token of the user who sends" example:"secret"`
	RoomID       string   `option:"roomid,required" help:"Room to send to, which the user has joined: its id (!…) or an alias (#name:server)" example:"#updates:matrix.org"`
	MsgType      string   `option:"msgtype" default:"m.text" choices:"m.text,m.notice" help:"m.text, or m.notice, which notifies nobody in most clients"`
	DisableTitle bool     `option:"disabletitle" default:"false" help:"Send the body only"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("matrix", "Send a message to a Matrix room", New,
		kind.Docs("https://spec.matrix.org/latest/client-server-api/"), kind.Messages())
}

type matrix struct {
	*chat.Client
	url          string
	room         string
	msgType      string
	disableTitle bool
}

// content is that of an m.room.message.
type content struct {
	MsgType       string `json:"msgtype"`
	Body          string `json:"body"`
	Format        string `json:"format"`
	FormattedBody string `json:"formatted_body"`
}

// New returns a trigger that sends to one room.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	room, token := strings.TrimSpace(o.RoomID), strings.TrimSpace(o.AccessToken)
	switch {
	case strings.ContainsAny(token, " \t\r\n"):
		return nil, sdk.Invalid("accesstoken", "has white space in it")
	case strings.HasPrefix(room, "#") && !strings.Contains(room, ":"):
		return nil, sdk.Invalid("roomid", "an alias has its server in it: %s:example.org", room)
	case !strings.HasPrefix(room, "#") && !strings.HasPrefix(room, "!"):
		return nil, sdk.Invalid("roomid", "want the id of a room (!…) or an alias (#name:server), got %q", room)
	}
	client, err := chat.New(env, o.Options, chat.Service{
		URL: o.URL, Option: "url", Header: http.Header{"Authorization": {"Bearer " + token}},
		Explain: explain, Secrets: []string{token},
	})
	if err != nil {
		return nil, err
	}
	return &matrix{
		Client: client, url: strings.TrimSuffix(o.URL.String(), "/") + "/_matrix/client/v3/",
		room: room, msgType: o.MsgType, disableTitle: o.DisableTitle,
	}, nil
}

// Run sends one message.
func (m *matrix) Run(ctx context.Context, req trigger.Request) error {
	c, err := m.content(chat.Of(req, m.disableTitle), req)
	if err != nil {
		return err
	}
	room, err := m.resolve(ctx)
	if err != nil {
		return err
	}
	address := m.url + "rooms/" + url.PathEscape(room) + "/send/m.room.message/" + transaction(req)
	_, err = m.Send(ctx, http.MethodPut, address, c)
	return err
}

// resolve returns the id of the room. That of an alias can change, so it is requested each time.
// https://spec.matrix.org/latest/client-server-api/#get_matrixclientv3directoryroomroomalias
func (m *matrix) resolve(ctx context.Context) (string, error) {
	if !strings.HasPrefix(m.room, "#") {
		return m.room, nil
	}
	a, err := m.Send(ctx, http.MethodGet, m.url+"directory/room/"+url.PathEscape(m.room), nil)
	if err != nil {
		return "", err
	}
	var response struct {
		RoomID string `json:"room_id"`
	}
	if !a.Decode(&response) || response.RoomID == "" {
		return "", sdk.Invalid("url", "the server did not answer with the room of an alias; is it a Matrix homeserver?")
	}
	return response.RoomID, nil
}

// transaction is the idempotency key: it is the same when a delivery is retried,
// so that the server sends it once: https://spec.matrix.org/latest/client-server-api/#transaction-identifiers.
// The text is part of it, for a store that starts anew counts its deliveries from one again.
func transaction(req trigger.Request) string {
	if req.Delivery == "" {
		return rand.Text()
	}
	text := req.Title + "\x00" + req.Body
	for _, a := range req.Actions { // each attempt has its own links
		text = strings.ReplaceAll(text, a.URL, a.Kind)
	}
	sum := sha256.Sum256([]byte(req.Delivery + "\x00" + text))
	return hex.EncodeToString(sum[:16])
}

// content makes the content of a message, with a body as long as fits.
func (m *matrix) content(text chat.Message, req trigger.Request) (content, error) {
	plain := message.Lines(req, message.MaxURL, "\n", message.Plain)
	rich := message.Lines(req, message.MaxURL, "\n", func(label, address string) string {
		return `<a href="` + html.EscapeString(address) + `">` + html.EscapeString(label) + "</a>"
	})
	return chat.FitJSON(text.Body, maxContentBytes, func(body string) content {
		return m.with(text.Title, body, plain, rich)
	})
}

// with makes a content of a title, a body, and lines of links in both forms.
func (m *matrix) with(title, body, plain, rich string) content {
	bold := chat.Wrap("<strong>", html.EscapeString(title), "</strong>")
	return content{
		MsgType: m.msgType,
		Body:    chat.Join(title, body) + plain,
		Format:  "org.matrix.custom.html",
		// Clients make no line of a line end in HTML.
		FormattedBody: strings.ReplaceAll(chat.Join(bold, html.EscapeString(body))+rich, "\n", "<br>"),
	}
}

// explain reads the errors of https://spec.matrix.org/latest/client-server-api/#standard-error-response.
func explain(a chat.Response) *chat.ServiceError {
	var response struct {
		Code       string  `json:"errcode"`
		Error      string  `json:"error"`
		RetryAfter float64 `json:"retry_after_ms"`
	}
	if a.OK() || !a.Decode(&response) || response.Code == "" {
		return nil
	}
	r := &chat.ServiceError{Text: response.Code + ": " + response.Error}
	switch response.Code {
	case "M_LIMIT_EXCEEDED":
		r.Wait = chat.Seconds(response.RetryAfter / 1000)
	case "M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED", "M_USER_LOCKED", "M_USER_SUSPENDED":
		r.Kind, r.Option = sdk.ErrUnauthorized, "accesstoken"
	case "M_FORBIDDEN":
		r.Kind, r.Option = sdk.ErrUnauthorized, "roomid, and that the user has joined the room and may write there"
	case "M_NOT_FOUND", "M_INVALID_PARAM", "M_UNKNOWN_ROOM":
		r.Option = "roomid"
	case "M_UNRECOGNIZED":
		r.Option = "url"
	}
	return r
}
