// Package ntfy publishes to a topic of ntfy, as https://docs.ntfy.sh/publish/#publish-as-json describes.
package ntfy

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// maxMessageBytes keeps a message below 4096 bytes, from where the server makes it an attached file.
	maxMessageBytes = 4095
	// maxPayloadBytes is what the server reads of a message published as JSON: twice its message limit.
	maxPayloadBytes = 2 * 4096
	// maxTitle and maxClick leave that space to the message. The server has no limits of its own for them.
	maxTitle = 250
	maxClick = 1000
)

// Options configures one ntfy trigger.
type Options struct {
	URL      *url.URL `option:"url,mask=url" default:"https://ntfy.sh" help:"Address of the ntfy server"`
	Topic    string   `option:"topic,required" help:"Topic to publish to" example:"updates"`
	Priority *int     `option:"priority" min:"0" max:"5" help:"1 (min) to 5 (max); 0 or nothing for the server's default"`
	Tags     []string `option:"tags" help:"Tags or emoji short codes shown with the message"`
	Icon     *url.URL `option:"icon" help:"Address of a PNG or JPEG picture to show with the message"`
	Click    string   `option:"click" help:"Address to open on a tap, instead of the release notes of the update"`
	Actions  string   `option:"actions,secret" help:"Up to three buttons, in the place of those to approve, skip or snooze an update, as ntfy documents them: view, Open, https://example.org; http, Restart, https://…, headers.Authorization=… or a JSON array"`
	Markdown bool     `option:"markdown" default:"false" help:"Show the message as Markdown, for templates written in it"`
	Email    string   `option:"email" help:"Address to which the server mails the message as well"`
	Delay    string   `option:"delay" help:"When the server passes the message on, such as 30m, 9am or tomorrow, 10am: after 10 seconds to 3 days"`
	Auth     Auth     `option:"auth"`
	httpclient.Options
}

// Auth is how to log in: with a token, or with a user and a password.
type Auth struct {
	User     string `option:"user" help:"User name, with auth.password"`
	Password string `option:"password,secret" help:"Password of auth.user"`
	Token    string `option:"token,secret" help:"Access token, instead of user and password" example:"secret"`
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("ntfy", "Publish to an ntfy topic", New, kind.Docs("https://docs.ntfy.sh/"), kind.Messages())
}

// body is the JSON form of a message.
type body struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Priority int      `json:"priority,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Click    string   `json:"click,omitempty"`
	Icon     string   `json:"icon,omitempty"`
	Actions  []action `json:"actions,omitempty"`
	Markdown bool     `json:"markdown,omitempty"`
	Email    string   `json:"email,omitempty"`
	Delay    string   `json:"delay,omitempty"`
}

// topicForm and maxTopic are what the server accepts as a topic.
var topicForm = regexp.MustCompile(`^[-_A-Za-z0-9]+$`)

const maxTopic = 64

// New returns a trigger that publishes to one topic.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	if len(o.Topic) > maxTopic || !topicForm.MatchString(o.Topic) {
		return nil, sdk.Invalid("topic", "want 1 to %d letters, digits, - or _, got %q", maxTopic, o.Topic)
	}
	if o.Auth.Password != "" && o.Auth.User == "" {
		return nil, sdk.Invalid("auth.user", "is required with auth.password")
	}
	if o.Email != "" && o.Delay != "" {
		return nil, sdk.Invalid("delay", "ntfy does not delay mails; remove this or email")
	}
	common, err := o.common()
	if err != nil {
		return nil, err
	}
	secrets := append(secretsOf(common.Actions), o.Auth.Password, o.Auth.Token)
	return chat.PostingJSON(env, o.Options, o.URL.JoinPath("/").String(), o.Auth.header(), secrets, common.with)
}

// urgent is the least priority of an urgent message: with sound, and above others.
const urgent = 4

// common is what is the same in every message.
func (o Options) common() (body, error) {
	b := body{Topic: o.Topic, Tags: o.Tags, Click: o.Click, Markdown: o.Markdown, Email: o.Email, Delay: o.Delay}
	if o.Priority != nil {
		b.Priority = *o.Priority
	}
	if o.Icon != nil {
		b.Icon = o.Icon.String()
		if !webaddress.Is(o.Icon) || len(b.Icon) > maxClick {
			return b, sdk.Invalid("icon", "want an address of at most %d bytes that starts with http:// or https://", maxClick)
		}
	}
	if o.Click != "" && (!isLink(o.Click) || len(o.Click) > maxClick) {
		return b, sdk.Invalid("click", "want an address of at most %d bytes that starts with http:// or https://",
			maxClick)
	}
	var err error
	b.Actions, err = parseActions(o.Actions)
	return b, err
}

// header is the credentials as a header. A token comes before a user, for it can do less.
func (a Auth) header() http.Header {
	switch {
	case a.Token != "":
		return http.Header{"Authorization": {"Bearer " + a.Token}}
	case a.User != "":
		return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(a.User+":"+a.Password))}}
	}
	return nil
}

// with makes the message of a delivery, cut to what the server takes.
func (b body) with(req trigger.Request) (body, error) {
	if req.Event.Urgent() {
		b.Priority = max(urgent, b.Priority)
	}
	b.Click = cmp.Or(b.Click, message.ReleaseLink(req, maxClick))
	rows := message.Rows(req, maxClick, maxActions-len(b.Actions), func(a trigger.Action) action {
		return action{Action: "view", Label: a.Label, URL: a.URL, Clear: true}
	})
	b.Actions = slices.Concat(b.Actions, slices.Concat(rows...)) // the first are those of every message
	b.Title, _ = httpclient.Truncate(req.Title, maxTitle)
	return chat.FitJSON(chat.FitBytes(req.Body, maxMessageBytes), maxPayloadBytes, func(text string) body {
		b.Message = text
		return b
	})
}
