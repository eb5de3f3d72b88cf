// Package pushover sends messages with Pushover: https://pushover.net/api.
package pushover

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// The limits of https://pushover.net/api#limits, in characters but for the link.
const (
	maxTitle    = 250
	maxMessage  = 1024
	maxURLBytes = 512
)

// high is the least priority of an urgent message: in quiet hours, too.
const high = 1

// emergency is the priority that is repeated until a recipient confirms it.
const emergency = 2

// linkTitle is shown instead of the link to the release notes.
const linkTitle = "Release notes"

// decideTitle is shown instead of the link to decide about the update, whose page has the release notes.
const decideTitle = "Approve, skip or snooze"

// Options configures one pushover trigger.
type Options struct {
	User      string   `option:"user,required,secret" help:"Key of the user or group to notify" example:"user-key"`
	Token     string   `option:"token,required,secret" help:"API token of your application" example:"secret"`
	Device    []string `option:"device" help:"Names of the devices to notify, separated by commas; without it, all of the user's"`
	HTML      int      `option:"html" default:"0" min:"0" max:"1" help:"1 for templates with the tags b, i, u, font and a; other text stays as it is"`
	Monospace int      `option:"monospace" default:"0" min:"0" max:"1" help:"1 for letters of the same width; not together with html"`
	Sound     string   `option:"sound" default:"pushover" help:"Name of the sound, one of Pushover's or of your own"`
	Priority  int      `option:"priority" default:"0" min:"-2" max:"2" help:"-2 (silent) to 2 (repeated until confirmed, with retry and expire)"`
	Retry     *int     `option:"retry" min:"30" help:"With priority 2: seconds between repetitions"`
	Expire    *int     `option:"expire" min:"1" max:"10800" help:"With priority 2: seconds after which repetitions end"`
	TTL       int      `option:"ttl" default:"0" min:"0" help:"Seconds after which the message is deleted from the devices; 0 for never"`
	URL       *url.URL `option:"url,mask=url" default:"https://api.pushover.net" help:"Address of the service; change it to go through a gateway of yours"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("pushover", "Send a Pushover message", New, kind.Docs("https://pushover.net/api"),
		kind.Messages())
}

type pushover struct {
	*chat.Client
	url    string
	fields url.Values // those of every message
	html   bool
}

// New returns a trigger that sends messages to one user or group.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	switch {
	case o.Priority == emergency && o.Retry == nil:
		return nil, sdk.Invalid("retry", "is required with priority 2: 30 or more seconds between repetitions")
	case o.Priority == emergency && o.Expire == nil:
		return nil, sdk.Invalid("expire", "is required with priority 2: 1 to 10800 seconds after which repetitions end")
	case o.HTML == 1 && o.Monospace == 1:
		return nil, sdk.Invalid("monospace", "does not go together with html; set one of them to 0")
	}
	client, err := chat.New(env, o.Options, chat.Service{
		URL: o.URL, Option: "url", Explain: explain, Secrets: []string{o.User, o.Token},
	})
	if err != nil {
		return nil, err
	}
	return &pushover{
		Client: client, url: o.URL.JoinPath("1/messages.json").String(), fields: o.fields(), html: o.HTML == 1,
	}, nil
}

// fields are what is the same in every message.
func (o Options) fields() url.Values {
	v := url.Values{"user": {o.User}, "token": {o.Token}, "sound": {o.Sound}, "html": {strconv.Itoa(o.HTML)}}
	if o.Monospace == 1 {
		v.Set("monospace", "1")
	}
	if len(o.Device) > 0 {
		v.Set("device", strings.Join(o.Device, ","))
	}
	if o.Priority != 0 {
		v.Set("priority", strconv.Itoa(o.Priority))
	}
	if o.Priority == emergency {
		v.Set("retry", strconv.Itoa(*o.Retry))
		v.Set("expire", strconv.Itoa(*o.Expire))
	}
	if o.TTL > 0 && o.Priority != emergency { // the service ignores it for emergencies
		v.Set("ttl", strconv.Itoa(o.TTL))
	}
	return v
}

// Run sends one message.
func (p *pushover) Run(ctx context.Context, req trigger.Request) error {
	r, err := httpclient.NewRequest(ctx, http.MethodPost, p.url)
	if err != nil {
		return err
	}
	httpclient.SetBody(r, "application/x-www-form-urlencoded", []byte(p.form(req).Encode()))
	_, err = p.Exchange(r)
	return err
}

// form makes the message of a delivery, cut to what the service takes.
func (p *pushover) form(req trigger.Request) url.Values {
	v := url.Values{}
	for name, values := range p.fields {
		v[name] = values
	}
	if set, _ := strconv.Atoi(v.Get("priority")); req.Event.Urgent() && set < high {
		v.Set("priority", strconv.Itoa(high))
	}
	if title, _ := httpclient.Truncate(strings.TrimSpace(req.Title), maxTitle); title != "" {
		v.Set("title", title)
	}
	v.Set("message", p.text(message.Body(req), req.Batch))
	if link := message.Decide(req, maxURLBytes); link != "" {
		v.Set("url", link)
		v.Set("url_title", decideTitle)
	} else if link := message.ReleaseLink(req, maxURLBytes); link != "" {
		v.Set("url", link)
		v.Set("url_title", linkTitle)
	}
	return v
}

// compact drops the blank lines between the items of a batch: there is little space.
func compact(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// text is a body cut to the limit of a message, which is that of the HTML form if it is one.
func (p *pushover) text(body string, batch bool) string {
	written := func(text string) string {
		if batch {
			text = compact(text)
		}
		if p.html {
			text = escape(text)
		}
		return text
	}
	return written(chat.Fit(strings.ToValidUTF8(body, "\uFFFD"), func(text string) bool {
		return utf8.RuneCountInString(written(text)) <= maxMessage
	}))
}
