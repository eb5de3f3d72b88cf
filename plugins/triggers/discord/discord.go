// Package discord posts to a web hook of Discord, as
// https://docs.discord.com/developers/resources/webhook#execute-webhook describes.
// Texts are shown with Discord's markup.
package discord

import (
	"context"
	"net/url"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	shared "github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// The limits, in characters, of https://docs.discord.com/developers/resources/message#embed-object-embed-limits
// and of the web hook's own fields. The sum of all texts, 6000, is out of reach.
const (
	maxDescription = 4096
	maxFieldName   = 256
	maxFieldValue  = 1024
	maxUsername    = 80
	maxAvatarURL   = 2048
	maxButtonURL   = 512
	maxButtonLabel = 80
	// maxButtons is that of five rows, of which each is of one container.
	maxButtons = 15
)

// Options configures one discord trigger.
type Options struct {
	URL         *url.URL `option:"url,required,secret" help:"Address of the web hook, as Copy Webhook URL gives it" example:"https://discord.com/api/webhooks/1234567890/secret"`
	BotUsername string   `option:"botusername" default:"Dogwatch" help:"Name shown with the message, 80 characters at most; Discord takes none with clyde or discord in it"`
	AvatarURL   *url.URL `option:"avatarurl" help:"Picture shown with the message; without it, that of the web hook"`
	CardColor   int      `option:"cardcolor" default:"65280" min:"0" max:"16777215" help:"Colour of the card as a decimal RGB number; 65280 is green"`
	CardLabel   string   `option:"cardlabel" help:"Label above the body, 256 characters at most; a body below a label is cut at 1024 characters, one without at 4096"`
	ThreadID    string   `option:"threadid" help:"Id of a thread of the web hook's channel to post to; a forum needs one"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("discord", "Post to a Discord channel through a web hook", New,
		kind.Docs("https://docs.discord.com/developers/resources/webhook#execute-webhook"), kind.Messages())
}

type discord struct {
	*chat.Client
	url   string
	frame message
	color int
	label string
}

// message is the body of the request.
type message struct {
	Username  string  `json:"username,omitempty"`
	AvatarURL string  `json:"avatar_url,omitempty"`
	Embeds    []embed `json:"embeds"`
	// Components are rows of buttons: https://docs.discord.com/developers/components/reference#action-row.
	Components []row `json:"components,omitempty"`
}

type row struct {
	Type       int      `json:"type"`
	Components []button `json:"components"`
}

// button opens a page, as every web hook may have it.
type button struct {
	Type  int    `json:"type"`
	Style int    `json:"style"`
	Label string `json:"label"`
	URL   string `json:"url"`
}

type embed struct {
	Title       string  `json:"title,omitempty"`
	Description string  `json:"description,omitempty"`
	Color       int     `json:"color"`
	Fields      []field `json:"fields,omitempty"`
}

type field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// New returns a trigger that posts to one web hook.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	if err := chat.CheckURL("avatarurl", o.AvatarURL); err != nil {
		return nil, err
	}
	label := strings.TrimSpace(o.CardLabel)
	switch {
	case chat.Units(o.BotUsername) > maxUsername:
		return nil, sdk.Invalid("botusername", "want at most %d characters", maxUsername)
	case chat.Units(label) > maxFieldName:
		return nil, sdk.Invalid("cardlabel", "want at most %d characters", maxFieldName)
	case strings.Trim(o.ThreadID, "0123456789") != "":
		return nil, sdk.Invalid("threadid", "want the number that Discord shows with Copy Thread ID, got %q", o.ThreadID)
	}
	client, err := chat.New(env, o.Options, chat.Hook(o.URL, explain))
	if err != nil {
		return nil, err
	}
	d := &discord{Client: client, url: address(o.URL, o.ThreadID), color: o.CardColor, label: label}
	d.frame.Username = strings.TrimSpace(o.BotUsername)
	if o.AvatarURL != nil {
		if d.frame.AvatarURL = o.AvatarURL.String(); len(d.frame.AvatarURL) > maxAvatarURL {
			return nil, sdk.Invalid("avatarurl", "want at most %d characters", maxAvatarURL)
		}
	}
	return d, nil
}

// address is the web hook's, asking for an error when a message is not kept:
// without wait, Discord says nothing of that.
func address(hook *url.URL, thread string) string {
	u := *hook
	query := u.Query()
	query.Set("wait", "true")
	if thread != "" {
		query.Set("thread_id", thread)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// Run posts one message.
func (d *discord) Run(ctx context.Context, req trigger.Request) error {
	m, address := d.message(req), d.url
	if len(m.Components) > 0 {
		address += "&with_components=true" // without it they are ignored; the address has a query
	}
	return d.Post(ctx, address, m)
}

// message makes the message of a delivery: one card. Discord takes no field
// without a name or a value, so a body without a label is the description.
func (d *discord) message(req trigger.Request) message {
	text := chat.Of(req, false)
	card := embed{Title: text.Title, Color: d.color}
	if d.label == "" {
		card.Description = fit(text.Body, maxDescription)
	} else if text.Body != "" {
		card.Fields = []field{{Name: d.label, Value: fit(text.Body, maxFieldValue)}}
	}
	m := d.frame
	m.Embeds = []embed{card}
	m.Components = rows(req)
	return m
}

// The numbers of https://docs.discord.com/developers/components/reference#component-object-component-types.
const (
	typeRow    = 1
	typeButton = 2
	styleLink  = 5
)

// rows are the buttons to decide about the updates of a message, a row for each container.
func rows(req trigger.Request) []row {
	var all []row
	for _, buttons := range shared.Rows(req, maxButtonURL, maxButtons, func(a trigger.Action) button {
		label, _ := httpclient.Truncate(a.Label, maxButtonLabel)
		return button{typeButton, styleLink, label, a.URL}
	}) {
		all = append(all, row{typeRow, buttons})
	}
	return all
}

func fit(text string, limit int) string {
	return chat.Fit(text, func(s string) bool { return chat.Units(s) <= limit })
}
