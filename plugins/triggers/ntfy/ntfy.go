// Package ntfy publishes to a topic of ntfy, as https://docs.ntfy.sh/publish/#publish-as-json describes.
package ntfy

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"

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
	Topic    string   `option:"topic,required" help:"Topic to publish to"`
	Priority *int     `option:"priority" min:"0" max:"5" help:"1 (min) to 5 (max); 0 or nothing for the server's default"`
	Tags     []string `option:"tags" help:"Tags or emoji short codes shown with the message"`
	Auth     Auth     `option:"auth"`
	httpclient.Options
}

// Auth is how to log in: with a token, or with a user and a password.
type Auth struct {
	User     string `option:"user" help:"User name, with auth.password"`
	Password string `option:"password,secret" help:"Password of auth.user"`
	Token    string `option:"token,secret" help:"Access token, instead of user and password"`
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("ntfy", "Publish to an ntfy topic", New, kind.Docs("https://docs.ntfy.sh/"))
}

type ntfy struct {
	http     *httpclient.Client
	url      string
	header   http.Header
	topic    string
	priority int
	tags     []string
}

// message is the JSON form of a message.
type message struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Priority int      `json:"priority,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Click    string   `json:"click,omitempty"`
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
	client, err := httpclient.New(env, o.Options, o.Auth.Password, o.Auth.Token)
	if err != nil {
		return nil, err
	}
	n := &ntfy{http: client, url: o.URL.JoinPath("/").String(), header: o.Auth.header(), topic: o.Topic, tags: o.Tags}
	if o.Priority != nil {
		n.priority = *o.Priority
	}
	return n, nil
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

// Run publishes one message.
func (n *ntfy) Run(ctx context.Context, req trigger.Request) error {
	m, err := n.message(req)
	if err != nil {
		return err
	}
	return n.http.JSON(ctx, http.MethodPost, n.url, n.header, m, nil)
}

// Close closes idle connections.
func (n *ntfy) Close() error {
	n.http.Close()
	return nil
}

// message makes the message of a delivery, cut to what the server takes.
func (n *ntfy) message(req trigger.Request) (message, error) {
	m := message{Topic: n.topic, Priority: n.priority, Tags: n.tags, Click: click(req)}
	m.Title, _ = httpclient.Truncate(req.Title, maxTitle)
	for limit := maxMessageBytes; ; {
		m.Message, _ = httpclient.TruncateBytes(req.Body, limit)
		payload, err := httpclient.EncodeJSON(m)
		if err != nil {
			return m, err
		}
		excess := len(payload) - maxPayloadBytes
		if excess <= 0 || m.Message == "" {
			return m, nil
		}
		// One byte of text takes up to six in JSON, so a step may have to be taken again.
		limit = len(m.Message) - (excess+5)/6
	}
}

// click is where a tap on the message leads: to the release notes of a single
// update. They come from a label, so only links to the web are followed.
func click(req trigger.Request) string {
	if req.Batch || len(req.Containers) != 1 {
		return ""
	}
	c := req.Containers[0]
	var link string
	switch {
	case c.Result != nil:
		link = c.Result.Link
	case c.UpdateKind.Result != nil:
		link = c.UpdateKind.Result.Link
	}
	if len(link) > maxClick || !strings.HasPrefix(link, "https://") && !strings.HasPrefix(link, "http://") {
		return ""
	}
	return link
}
