// Package telegram sends a message as a bot of Telegram, as
// https://core.telegram.org/bots/api#sendmessage describes. Texts are plain:
// what is markup to Telegram is escaped, and only the title is bold.
package telegram

import (
	"context"
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

// Options configures one telegram trigger.
type Options struct {
	BotToken            string   `option:"bottoken,required,secret" help:"Token of the bot, from @BotFather" example:"123456:secret"`
	ChatID              string   `option:"chatid,required,secret" help:"Id of the chat, or @name of a public channel; the bot must be in it" example:"-1001234567890"`
	MessageThreadID     *int     `option:"messagethreadid" min:"1" help:"Id of the topic to post to, in a group that has topics"`
	DisableTitle        bool     `option:"disabletitle" default:"false" help:"Send the body only"`
	MessageFormat       string   `option:"messageformat" default:"Markdown" choices:"Markdown,HTML" help:"How the title is made bold: Markdown or HTML; both look the same"`
	DisableNotification bool     `option:"disablenotification" default:"false" help:"Send without a sound"`
	APIURL              *url.URL `option:"apiurl" default:"https://api.telegram.org" help:"Address of the Bot API server"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("telegram", "Send a message with a Telegram bot", New,
		kind.Docs("https://core.telegram.org/bots/api#sendmessage"), kind.Messages())
}

type telegram struct {
	*chat.Client
	url          string
	frame        payload
	markup       markup
	disableTitle bool
}

// payload is the body of the request.
type payload struct {
	ChatID              string    `json:"chat_id"`
	MessageThreadID     int       `json:"message_thread_id,omitempty"`
	Text                string    `json:"text"`
	ParseMode           string    `json:"parse_mode"`
	DisableNotification bool      `json:"disable_notification,omitempty"`
	ReplyMarkup         *keyboard `json:"reply_markup,omitempty"`
}

// New returns a trigger that sends to one chat.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	token, chatID := strings.TrimSpace(o.BotToken), strings.TrimSpace(o.ChatID)
	if !strings.Contains(token, ":") || strings.ContainsAny(token, "/?#% \t\r\n") {
		return nil, sdk.Invalid("bottoken", "want a token as @BotFather gives it, digits:letters")
	}
	if o.Proxy != nil && o.Proxy.Scheme == "socks" {
		proxy := *o.Proxy
		proxy.Scheme = "socks5"
		o.Proxy = &proxy
	}
	// The token is in the path of the address.
	client, err := chat.New(env, o.Options, chat.Service{
		URL: o.APIURL, Option: "apiurl", Explain: explain, Secrets: []string{token, chatID},
	})
	if err != nil {
		return nil, err
	}
	t := &telegram{
		Client:       client,
		url:          strings.TrimSuffix(o.APIURL.String(), "/") + "/bot" + token + "/sendMessage",
		frame:        payload{ChatID: chatID, DisableNotification: o.DisableNotification},
		markup:       markdown,
		disableTitle: o.DisableTitle,
	}
	if o.MessageThreadID != nil {
		t.frame.MessageThreadID = *o.MessageThreadID
	}
	if o.MessageFormat == "HTML" {
		t.markup = html
	}
	t.frame.ParseMode = t.markup.mode
	return t, nil
}

// Run sends one message.
func (t *telegram) Run(ctx context.Context, req trigger.Request) error {
	m := t.frame
	m.Text = t.markup.text(chat.Of(req, t.disableTitle))
	m.ReplyMarkup = keyboardOf(req)
	err := t.Post(ctx, t.url, m)
	if m.ReplyMarkup != nil && refusesButtons(err) {
		// Telegram wants a host with a public name, and refuses the message as a whole.
		links := message.Lines(req, maxURL, "\n", message.Plain)
		text := chat.Of(req, t.disableTitle)
		text.Body += links
		m.ReplyMarkup, m.Text = nil, t.markup.text(text)
		err = t.Post(ctx, t.url, m)
	}
	return err
}

// explain reads a response: https://core.telegram.org/bots/api#making-requests.
func explain(a chat.Response) *chat.ServiceError {
	var response struct {
		OK          bool   `json:"ok"`
		Description string `json:"description"`
		Parameters  struct {
			RetryAfter float64 `json:"retry_after"`
			MigrateTo  int64   `json:"migrate_to_chat_id"`
		} `json:"parameters"`
	}
	switch decoded := a.Decode(&response); {
	case a.OK() && response.OK:
		return nil
	case !decoded || response.Description == "":
		if a.OK() {
			return &chat.ServiceError{Text: "the answer is not that of a Bot API server", Option: "apiurl"}
		}
		return nil
	}
	r := &chat.ServiceError{Text: response.Description, Wait: chat.Seconds(response.Parameters.RetryAfter)}
	has := func(part string) bool { return strings.Contains(response.Description, part) }
	switch {
	case response.Parameters.MigrateTo != 0:
		r.Text += "; the group has another id since then"
		r.Option = "chatid"
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusNotFound:
		r.Kind, r.Option = sdk.ErrUnauthorized, "bottoken"
	case has("thread not found"), has("TOPIC_"):
		r.Option = "messagethreadid"
	case a.Status == http.StatusForbidden:
		r.Option = "chatid"
	case has("chat not found"), has("chat_id"), has("not enough rights"), has("CHAT_"):
		r.Option = "chatid"
	}
	return r
}
