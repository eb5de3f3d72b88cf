// Package shoutrrr sends messages to the services that have no trigger of
// their own, named by URLs of Shoutrrr: https://shoutrrr.nickfedor.com/.
package shoutrrr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Options configures one shoutrrr trigger.
type Options struct {
	URL          string   `option:"url,secret" help:"Shoutrrr URL of one service, such as pushbullet://token; this or urls" example:"bark://:secret@api.day.app"`
	URLs         []string `option:"urls,secret" help:"Shoutrrr URLs of several services; this or url"`
	DisableTitle bool     `option:"disabletitle" default:"false" help:"Send the body only"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("shoutrrr", "Send a message to a service that Shoutrrr knows", New,
		kind.Docs("https://shoutrrr.nickfedor.com/latest/services/overview/"), kind.Messages())
}

type shoutrrr struct {
	chat.Connection
	targets  []target
	untitled bool
	sent     *progress
}

// target is one URL.
type target struct {
	option  string // where it comes from
	url     string
	scheme  string
	service service
	titled  bool // the message has a place of its own for a title
	secrets []string
}

// New returns a trigger that sends to one or more services.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	option, urls := "urls", split(o.URLs)
	switch {
	case o.URL == "" && len(urls) == 0:
		return nil, sdk.Invalid("url", "this or urls is required: a Shoutrrr URL such as pushbullet://token")
	case o.URL != "" && len(urls) > 0:
		return nil, sdk.Invalid("urls", "give this or url, not both")
	case o.URL != "":
		option, urls = "url", []string{o.URL}
	}
	s := &shoutrrr{untitled: o.DisableTitle, sent: &progress{}}
	var secrets []string
	for i, u := range urls {
		t := target{option: option, url: u, secrets: secretsOf(u)}
		if err := t.check(); err != nil {
			return nil, sdk.Invalid(option, "%s%v", position(i, len(urls)), err)
		}
		s.targets = append(s.targets, t)
		secrets = append(secrets, t.secrets...)
	}
	var err error
	s.Connection, err = chat.Connect(env, o.Options, secrets...)
	return s, err
}

// split repairs what the commas inside of URLs have cut, and separates what only spaces do.
func split(items []string) []string {
	var urls []string
	for _, item := range items {
		for _, word := range strings.Fields(item) {
			if last := len(urls) - 1; last >= 0 && !strings.Contains(word, "://") {
				urls[last] += "," + word
				continue
			}
			urls = append(urls, word)
		}
	}
	return urls
}

func position(i, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("item %d: ", i+1)
}

// minToken is how many letters and digits in a row are not a word.
const minToken = 16

// secretsOf are the texts of a URL that no error may hold. Most services have
// a secret where other URLs have a user or a host.
func secretsOf(text string) []string {
	secrets := []string{text}
	if u, err := url.Parse(text); err == nil {
		secrets = append(secrets, u.User.Username(), u.Host, u.Hostname(), u.Fragment)
		secrets = append(secrets, httpclient.SecretParts(u)...)
	}
	// Some join several in one part, or have a whole URL in it.
	plain, _ := url.QueryUnescape(text)
	for _, run := range strings.FieldsFunc(text+" "+plain, func(c rune) bool {
		return c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z'
	}) {
		if len(run) >= minToken {
			secrets = append(secrets, run)
		}
	}
	return secrets
}

// check finds the service of a URL and has the library read it, which connects to nothing.
func (t *target) check() error {
	scheme, _, found := strings.Cut(t.url, "://")
	t.scheme, _, _ = strings.Cut(strings.ToLower(scheme), "+")
	if !found {
		return errors.New("want a Shoutrrr URL such as pushbullet://token")
	}
	var known bool
	if t.service, known = serviceOf(t.scheme); !known {
		return unknown(t.scheme)
	}
	// A web hook without a template gets nothing but the text.
	t.titled = t.service.titled && (t.scheme != "generic" || strings.Contains(strings.ToLower(t.url), "template="))
	c := &client{}
	if _, err := t.open(c); err != nil && !c.used {
		return fmt.Errorf("%s does not accept this URL: %s", t.scheme, t.clean(err))
	}
	return nil
}

// clean makes an error of the library fit to show.
func (t *target) clean(err error) string { return httpclient.Clean(err.Error(), t.secrets...) }

// open returns the service as the URL describes it. It is made for one
// delivery, for services keep the parameters of the last one.
func (t *target) open(c *client) (sender, error) {
	u, err := url.Parse(t.url)
	if err != nil {
		return nil, errors.New("it is malformed")
	}
	s := t.service.make()
	if u.Scheme = strings.ToLower(u.Scheme); u.Scheme != t.scheme {
		custom, ok := s.(types.CustomURLService)
		if !ok {
			return nil, fmt.Errorf("want %s://, without anything behind a plus", t.scheme)
		}
		if u, err = custom.GetServiceURLFromCustom(u); err != nil {
			return nil, err
		}
	}
	if t.service.address != "" && u.Port() == "" {
		host, port, _ := net.SplitHostPort(t.service.address) // a constant
		u.Host = net.JoinHostPort(cmp.Or(u.Hostname(), host), port)
	}
	s.SetHTTPClient(c) // before, for those that log in at once
	if err := s.Initialize(u, nil); err != nil {
		return nil, err
	}
	s.SetHTTPClient(c) // after, for those that choose their own
	return s, nil
}

// Run sends the message to each service once. After an error, a try again only
// reaches those that have not got it.
func (s *shoutrrr) Run(ctx context.Context, req trigger.Request) error {
	m := chat.Of(req, s.untitled)
	var failed failures
	for i, t := range s.targets {
		if s.sent.has(req.Delivery, i) {
			continue
		}
		if err := s.send(ctx, t, m); err != nil {
			failed.add(fmt.Errorf("%s%s: %w", position(i, len(s.targets)), t.scheme, err))
			continue
		}
		if len(s.targets) > 1 {
			s.sent.add(req.Delivery, i)
		}
	}
	if len(failed) == 0 {
		s.sent.forget(req.Delivery)
	}
	return failed.err()
}

// send gives a message to one service.
func (s *shoutrrr) send(ctx context.Context, t target, m chat.Message) error {
	c := &client{ctx: ctx, http: s.Client}
	err, ours := c.outcome(t.send(c, m))
	switch {
	case ours:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	// The service responded with success and with something else than its documentation says.
	return sdk.Invalid(t.option, "the service refuses the message: %s", t.clean(err))
}

func (t *target) send(c *client, m chat.Message) error {
	s, err := t.open(c)
	if err != nil {
		return err
	}
	if m.Body == "" {
		m.Title, m.Body = "", m.Title
	}
	params := types.Params{}
	if !t.titled {
		m.Title, m.Body = "", chat.Join(m.Title, m.Body)
	}
	if m.Title != "" {
		params.SetTitle(m.Title)
	}
	text := chat.FitBytes(m.Body, t.service.limit-t.service.shared*len(m.Title))
	return s.Send(text, &params)
}
