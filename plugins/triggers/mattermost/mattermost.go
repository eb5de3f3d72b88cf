// Package mattermost posts to an incoming web hook of Mattermost, as
// https://developers.mattermost.com/integrate/webhooks/incoming/ describes.
// Texts are shown with Mattermost's Markdown.
package mattermost

import (
	"net/url"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	shared "github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// maxText is how many characters a post has at most. A server of before 2018
// has 4000 and makes several posts of a longer text.
// https://github.com/mattermost/mattermost/blob/master/server/public/model/post.go
const maxText = 16_383

// Options configures one mattermost trigger.
type Options struct {
	URL          *url.URL `option:"url,required,secret" help:"Address of the incoming web hook" example:"https://mattermost.example.com/hooks/secret"`
	Channel      string   `option:"channel" help:"Channel to post to by its name in links, or @user, instead of the web hook's; for a web hook that is not locked to one"`
	Username     string   `option:"username" help:"Name shown with the message; the server must allow it"`
	IconURL      *url.URL `option:"iconurl" help:"Picture shown with the message; the server must allow it"`
	IconEmoji    string   `option:"iconemoji" help:"Emoji shown instead of a picture, such as :dog:"`
	Priority     string   `option:"priority" choices:"standard,important,urgent" help:"Priority of the post: standard, important or urgent"`
	DisableTitle bool     `option:"disabletitle" default:"false" help:"Send the body only"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("mattermost", "Post to a Mattermost channel through a web hook", New,
		kind.Docs("https://developers.mattermost.com/integrate/webhooks/incoming/"), kind.Messages())
}

// message is the body of the request.
type message struct {
	Text      string    `json:"text"`
	Channel   string    `json:"channel,omitempty"`
	Username  string    `json:"username,omitempty"`
	IconURL   string    `json:"icon_url,omitempty"`
	IconEmoji string    `json:"icon_emoji,omitempty"`
	Priority  *priority `json:"priority,omitempty"`
}

type priority struct {
	Priority string `json:"priority"`
}

// New returns a trigger that posts to one web hook.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	if err := chat.CheckURL("iconurl", o.IconURL); err != nil {
		return nil, err
	}
	common := message{
		Channel: strings.TrimPrefix(strings.TrimSpace(o.Channel), "#"), Username: o.Username, IconEmoji: o.IconEmoji,
	}
	if o.IconURL != nil {
		common.IconURL = o.IconURL.String()
	}
	if o.Priority != "" && o.Priority != "standard" {
		common.Priority = &priority{o.Priority}
	}
	return chat.Posting(env, o.Options, chat.Hook(o.URL, explain), o.URL.String(),
		func(req trigger.Request) (message, error) {
			post := common
			post.Text = text(chat.Of(req, o.DisableTitle), shared.Lines(req, shared.MaxURL, " · ", shared.Markdown))
			return post, nil
		})
}

// text is a message with its title in bold, and lines of links below.
func text(m chat.Message, links string) string { return m.Text("**", chat.Plain, links, maxText) }

// explain reads Mattermost's errors:
// https://github.com/mattermost/mattermost/blob/master/server/channels/app/webhook.go.
func explain(a chat.Response) *chat.ServiceError {
	var response struct {
		ID      string `json:"id"`
		Message string `json:"message"`
	}
	if a.OK() || !a.Decode(&response) || response.Message == "" {
		return nil
	}
	r := &chat.ServiceError{Text: response.Message}
	hook, isHook := strings.CutPrefix(response.ID, "web.incoming_webhook.")
	hook, _, _ = strings.Cut(hook, ".")
	switch {
	case isHook && (hook == "invalid" || hook == "disabled"):
		// A server without web hooks says so with a 501: trying again does not help.
		return &chat.ServiceError{Text: response.Message, Option: "url", Kind: sdk.ErrNotFound}
	case isHook && (strings.HasPrefix(hook, "channel") || hook == "permissions" || hook == "user"):
		r.Option = "channel"
	case strings.Contains(response.ID, "priority"):
		r.Option = "priority"
	}
	return r
}
