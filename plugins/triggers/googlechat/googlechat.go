// Package googlechat posts to a web hook of a Google Chat space, as
// https://developers.google.com/workspace/chat/quickstart/webhooks describes.
// Texts are shown with Chat's markup.
package googlechat

import (
	"net/url"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	shared "github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// maxText is how many characters a text has at most. The service's response to a
	// longer one says so; its documentation has only the limit of the whole
	// message, 32,000 bytes, which this stays below:
	// https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/create
	maxText = 4096
	// maxThreadKey is the limit of
	// https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages#Thread.
	maxThreadKey = 4000
)

// Options configures one googlechat trigger.
type Options struct {
	URL                *url.URL `option:"url,required,secret" help:"Address of the web hook, with its key and token" example:"https://chat.googleapis.com/v1/spaces/AAAA/messages?key=key&token=secret"`
	ThreadKey          string   `option:"threadkey" help:"Any name: messages with the same one go to one thread"`
	MessageReplyOption string   `option:"messagereplyoption" default:"REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD" choices:"REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD,REPLY_MESSAGE_OR_FAIL" help:"What to do when the thread of threadkey cannot be replied to: begin another, or fail"`
	DisableTitle       bool     `option:"disabletitle" default:"false" help:"Send the body only"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("googlechat", "Post to a Google Chat space through a web hook", New,
		kind.Docs("https://developers.google.com/workspace/chat/quickstart/webhooks"), kind.Messages())
}

// message is the body of the request.
type message struct {
	Text   string  `json:"text"`
	Thread *thread `json:"thread,omitempty"`
}

type thread struct {
	ThreadKey string `json:"threadKey"`
}

// New returns a trigger that posts to one web hook.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	if chat.Units(o.ThreadKey) > maxThreadKey {
		return nil, sdk.Invalid("threadkey", "want at most %d characters", maxThreadKey)
	}
	address, common := *o.URL, message{}
	if o.ThreadKey != "" {
		// Without a reply option, Chat ignores the key of a thread.
		query := address.Query()
		query.Set("messageReplyOption", o.MessageReplyOption)
		address.RawQuery, common.Thread = query.Encode(), &thread{o.ThreadKey}
	}
	return chat.Posting(env, o.Options, chat.Hook(o.URL, explain), address.String(),
		func(req trigger.Request) (message, error) {
			m := common
			m.Text = text(chat.Of(req, o.DisableTitle), shared.Lines(req, shared.MaxURL, " · ", link))
			return m, nil
		})
}

// link is a link in Chat's markup.
func link(label, address string) string { return "<" + address + "|" + label + ">" }

// text is a message with its title in bold, and lines of links below.
func text(m chat.Message, links string) string { return m.Text("*", chat.Plain, links, maxText) }

// explain reads Google's errors: https://cloud.google.com/apis/design/errors#http_mapping.
func explain(a chat.Response) *chat.ServiceError {
	var response struct {
		Error struct {
			Message string `json:"message"`
			Status  string `json:"status"`
			Details []struct {
				Reason string `json:"reason"`
			} `json:"details"`
		} `json:"error"`
	}
	if a.OK() || !a.Decode(&response) || response.Error.Status == "" {
		return nil
	}
	r := &chat.ServiceError{Text: response.Error.Status + ": " + response.Error.Message}
	switch response.Error.Status {
	case "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND":
		r.Option = "url"
	}
	for _, detail := range response.Error.Details {
		if detail.Reason == "API_KEY_INVALID" {
			r.Kind, r.Option = sdk.ErrUnauthorized, "url"
		}
	}
	return r
}
