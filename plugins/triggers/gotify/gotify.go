// Package gotify sends messages to a Gotify server: https://gotify.net/docs/pushmsg.
package gotify

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// maxTitleBytes and maxMessageBytes are what the TEXT columns of the server
	// hold with MySQL; with other databases they hold more.
	maxTitleBytes   = 1 << 10
	maxMessageBytes = 1<<16 - 1
	maxClick        = 2 << 10
)

// Options configures one gotify trigger.
type Options struct {
	URL      *url.URL `option:"url,required" help:"Address of the Gotify server" example:"https://gotify.example.com"`
	Token    string   `option:"token,required,secret" help:"Token of the application that the messages belong to" example:"secret"`
	Priority *int     `option:"priority" min:"0" help:"0 and up: above 0 notifies, from 4 with sound, from 8 also vibrating; without it, the application's default"`
	Markdown bool     `option:"markdown" default:"false" help:"Show the message as Markdown, for templates written in it"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("gotify", "Send a message to a Gotify server", New, kind.Docs("https://gotify.net/docs/"),
		kind.Messages())
}

// body is the JSON form of a message.
type body struct {
	Title    string         `json:"title"`
	Message  string         `json:"message"`
	Priority *int           `json:"priority,omitempty"`
	Extras   map[string]any `json:"extras,omitempty"`
}

// New returns a trigger that sends messages as one application.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	return chat.PostingJSON(env, o.Options, o.URL.JoinPath("message").String(), http.Header{"X-Gotify-Key": {o.Token}},
		[]string{o.Token}, func(req trigger.Request) (body, error) { return o.body(req), nil })
}

// urgent is the least priority of an urgent message: with sound and vibrating.
const urgent = 8

// body makes the message of a delivery. Its extras are those of https://gotify.net/docs/msgextras.
func (o Options) body(req trigger.Request) body {
	b := body{Priority: o.Priority}
	if req.Event.Urgent() {
		b.Priority = new(urgent)
		if o.Priority != nil {
			b.Priority = new(max(urgent, *o.Priority))
		}
	}
	b.Title, _ = httpclient.TruncateBytes(req.Title, maxTitleBytes)
	link := message.Plain
	if o.Markdown {
		link = message.Markdown
	}
	links := message.Lines(req, maxClick, "\n", link)
	b.Message = chat.FitBytes(message.Body(req), maxMessageBytes-len(links))
	b.Message += links
	extras := map[string]any{}
	if o.Markdown {
		extras["client::display"] = map[string]any{"contentType": "text/markdown"}
	}
	if link := cmp.Or(message.Decide(req, maxClick), message.ReleaseLink(req, maxClick)); link != "" {
		extras["client::notification"] = map[string]any{"click": map[string]any{"url": link}}
	}
	if len(extras) > 0 {
		b.Extras = extras
	}
	return b
}
