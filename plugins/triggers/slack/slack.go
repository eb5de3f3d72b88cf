// Package slack posts to a channel of Slack: as a bot, with
// https://docs.slack.dev/reference/methods/chat.postMessage, or through an incoming web hook,
// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks.
// Texts are shown with Slack's markup, except that < and > are plain characters.
package slack

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	shared "github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// maxText is from where Slack itself cuts a text, in characters:
// https://docs.slack.dev/reference/methods/chat.postMessage#truncating.
const maxText = 40_000

// Options configures one slack trigger.
type Options struct {
	Token        string   `option:"token,secret" help:"Token of a bot (xoxb-…) that may chat:write; with channel" example:"xoxb-secret"`
	Channel      string   `option:"channel" help:"Id or name of the channel the bot posts to" example:"updates"`
	URL          *url.URL `option:"url,secret" help:"Address of an incoming web hook, instead of token and channel"`
	DisableTitle bool     `option:"disabletitle" default:"false" help:"Send the body only"`
	APIURL       *url.URL `option:"apiurl" default:"https://slack.com/api" help:"Address of the API; https://slack-gov.com/api for GovSlack"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("slack", "Post to a Slack channel", New, kind.Docs("https://docs.slack.dev/messaging/"),
		kind.Messages())
}

// message is the body of both requests.
type message struct {
	Channel     string       `json:"channel,omitempty"`
	Text        string       `json:"text"`
	Attachments []attachment `json:"attachments,omitempty"`
}

// attachment is a row of link buttons. Those of blocks would have Slack call an app for
// each press, which an incoming web hook has not:
// https://docs.slack.dev/legacy/legacy-messaging/legacy-making-messages-interactive.
type attachment struct {
	Fallback string   `json:"fallback"`
	Actions  []button `json:"actions"`
}

type button struct {
	Type string `json:"type"`
	Text string `json:"text"`
	URL  string `json:"url"`
}

// New returns a trigger that posts to one channel.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	render := func(req trigger.Request) (message, error) {
		return message{
			Channel: strings.TrimSpace(o.Channel), Text: text(chat.Of(req, o.DisableTitle)), Attachments: attachments(req),
		}, nil
	}
	if o.URL != nil {
		return chat.Posting(env, o.Options, chat.Hook(o.URL, explainHook), o.URL.String(), render)
	}
	token := strings.TrimSpace(o.Token)
	return chat.Posting(env, o.Options, chat.Service{
		URL: o.APIURL, Option: "apiurl", Header: http.Header{"Authorization": {"Bearer " + token}},
		Explain: explainAPI, Secrets: []string{token},
	}, o.APIURL.JoinPath("chat.postMessage").String(), render)
}

// check wants exactly one of the two ways to post.
func (o Options) check() error {
	switch {
	case o.URL != nil && o.Token != "":
		return sdk.Invalid("url", "is for posting without a token; leave out url, or token and channel")
	case o.URL != nil && o.Channel != "":
		return sdk.Invalid("channel", "a web hook posts to its own channel; leave out channel, or give token instead of url")
	case o.URL != nil:
		return nil
	case o.Token == "":
		return sdk.Invalid("token", "is required with channel, unless url is given")
	case o.Channel == "":
		return sdk.Invalid("channel", "is required with token")
	case strings.ContainsAny(strings.TrimSpace(o.Token), " \t\r\n"):
		return sdk.Invalid("token", "has white space in it")
	}
	return nil
}

const (
	// maxButtons is of twenty attachments, of which each is of one container.
	maxButtons = 60
	maxURL     = 3000
)

// attachments are the buttons to decide about the updates of a message, one for each container.
func attachments(req trigger.Request) []attachment {
	var all []attachment
	write := func(a trigger.Action) button { return button{"button", a.Label, a.URL} }
	for _, row := range shared.Rows(req, maxURL, maxButtons, write) {
		all = append(all, attachment{"Approve, skip or snooze it on the pages of Dogwatch", row})
	}
	return all
}

// text is a message with its title in bold.
func text(m chat.Message) string { return m.Text("*", escape, "", maxText) }

// escape writes the three characters that Slack reads as control sequences:
// https://docs.slack.dev/messaging/formatting-message-text#escaping.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
