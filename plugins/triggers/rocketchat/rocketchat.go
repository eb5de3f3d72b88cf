// Package rocketchat posts to a room of Rocket.Chat, as
// https://developer.rocket.chat/apidocs/post-message describes. Texts are
// shown with Rocket.Chat's markup.
package rocketchat

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	shared "github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// maxText is how many characters a message has at most, unless the workspace
// has another Message_MaxAllowedSize:
// https://docs.rocket.chat/docs/message.
const maxText = 5000

// Options configures one rocketchat trigger.
type Options struct {
	URL          *url.URL `option:"url,required" help:"Address of the workspace" example:"https://chat.example.com"`
	User         User     `option:"user"`
	Auth         Auth     `option:"auth"`
	Channel      string   `option:"channel,required" help:"Room to post to: #name, @user or an id" example:"#updates"`
	Alias        string   `option:"alias" help:"Name shown with the message; the user needs the permission message-impersonate"`
	Avatar       string   `option:"avatar" help:"Address of the picture shown with the message; the same permission"`
	Emoji        string   `option:"emoji" help:"Emoji shown instead of a picture, such as :dog:"`
	Parse        Parse    `option:"parse"`
	DisableTitle bool     `option:"disabletitle" default:"false" help:"Send the body only"`
	httpclient.Options
}

// User is the id of the user that posts.
type User struct {
	ID string `option:"id,required,secret" help:"Id of the user who posts, shown with a personal access token" example:"user-id"`
}

// Auth is how to log in.
type Auth struct {
	Token string `option:"token,required,secret" help:"Personal access token of user.id" example:"secret"`
}

// Parse is what the server looks for in a message.
type Parse struct {
	URLs *bool `option:"urls" help:"Show previews of links; without it, the server decides"`
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("rocketchat", "Post to a Rocket.Chat room", New,
		kind.Docs("https://developer.rocket.chat/apidocs/post-message"), kind.Messages())
}

// message is the body of the request.
type message struct {
	Channel   string `json:"channel"`
	Text      string `json:"text"`
	Alias     string `json:"alias,omitempty"`
	Avatar    string `json:"avatar,omitempty"`
	Emoji     string `json:"emoji,omitempty"`
	ParseURLs *bool  `json:"parseUrls,omitempty"`
}

// New returns a trigger that posts to one room.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	if o.Avatar != "" && webaddress.Of(o.Avatar) == "" {
		return nil, sdk.Invalid("avatar", "must start with https:// or http://")
	}
	user, token := strings.TrimSpace(o.User.ID), strings.TrimSpace(o.Auth.Token)
	return chat.Posting(env, o.Options, chat.Service{
		URL: o.URL, Option: "url", Header: http.Header{"X-User-Id": {user}, "X-Auth-Token": {token}},
		Explain: explain, Secrets: []string{user, token},
	}, o.URL.JoinPath("api/v1/chat.postMessage").String(), func(req trigger.Request) (message, error) {
		return message{
			Channel: strings.TrimSpace(o.Channel), Alias: o.Alias, Avatar: o.Avatar, Emoji: o.Emoji, ParseURLs: o.Parse.URLs,
			Text: text(chat.Of(req, o.DisableTitle), shared.Lines(req, shared.MaxURL, " · ", shared.Markdown)),
		}, nil
	})
}

// text is a message with lines of links below.
func text(m chat.Message, links string) string { return m.Text("", chat.Plain, links, maxText) }

// explain reads a response, in which "success" says whether it succeeded and not the status.
func explain(a chat.Response) *chat.ServiceError {
	var response struct {
		Success bool   `json:"success"`
		Status  string `json:"status"`
		Error   string `json:"error"`
		Type    string `json:"errorType"`
		Message string `json:"message"`
	}
	switch decoded := a.Decode(&response); {
	case a.OK() && response.Success:
		return nil
	case !decoded || response.Error+response.Message == "":
		if a.OK() {
			return &chat.ServiceError{Text: "the answer is not that of Rocket.Chat", Option: "url"}
		}
		return nil
	}
	r := &chat.ServiceError{Text: response.Error}
	r.Text = cmp.Or(r.Text, response.Message)
	has := func(codes ...string) bool {
		return slices.ContainsFunc(codes, func(code string) bool {
			return strings.Contains(response.Type, code) || strings.Contains(r.Text, code)
		})
	}
	switch {
	case a.Status == http.StatusTooManyRequests, has("error-too-many-requests"):
		r.Wait = wait(a.Header, time.Now())
	case a.Status == http.StatusUnauthorized, has("error-invalid-user", "You must be logged in"):
		r.Kind, r.Option = sdk.ErrUnauthorized, "user.id and auth.token"
	case has("invalid-channel", "error-invalid-room", "error-room-not-found", "error-not-allowed", "error-room-archived"):
		r.Option = "channel"
	}
	return r
}

// shortWait is the pause when the server does not name one that makes sense.
const shortWait = time.Minute

// wait is how long a server asks to wait: X-RateLimit-Reset holds the time in
// milliseconds since 1970, other than with most services.
// https://developer.rocket.chat/apidocs/rate-limiting
func wait(header http.Header, now time.Time) time.Duration {
	milliseconds, err := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64)
	if d := time.UnixMilli(milliseconds).Sub(now); err == nil && d > 0 && d <= time.Hour {
		return d
	}
	return shortWait
}
