// Package apprise hands messages to an Apprise API server, which knows more
// than a hundred services: https://appriseit.com/api/.
package apprise

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// maxPayloadBytes keeps a request below the 3 MB that the server reads unless
// APPRISE_UPLOAD_MAX_MEMORY_SIZE says otherwise. Apprise itself cuts or splits
// a text to what each service takes.
const maxPayloadBytes = 1 << 20

// maxConfig is how long a configuration key can be.
const maxConfig = 128

// Options configures one apprise trigger.
type Options struct {
	URL    *url.URL `option:"url,required" help:"Address of the Apprise API server" example:"http://apprise:8000"`
	URLs   string   `option:"urls,secret" help:"Apprise URLs of the services to notify, separated by commas; this or config"`
	Config string   `option:"config" help:"Key of a configuration that the server stores; this or urls" example:"homelab"`
	Tag    string   `option:"tag" help:"With config: notify only what has this tag; commas mean or, spaces mean and"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("apprise", "Notify through an Apprise API server", New,
		kind.Docs("https://appriseit.com/api/"), kind.Messages())
}

type apprise struct {
	chat.Connection
	url  string
	urls string
	tag  string
}

// payload is the JSON form of a notification.
type payload struct {
	URLs   string `json:"urls,omitempty"`
	Tag    string `json:"tag,omitempty"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	Format string `json:"format"`
	Type   string `json:"type"`
}

// New returns a trigger that notifies a list of URLs or a stored configuration.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	switch {
	case o.URLs == "" && o.Config == "":
		return nil,
			sdk.Invalid("urls", "this or config is required: Apprise URLs, or the key of a configuration that the server stores")
	case o.URLs != "" && o.Config != "":
		return nil, sdk.Invalid("config", "give this or urls, not both")
	case o.Tag != "" && o.Config == "":
		return nil, sdk.Invalid("tag", "goes with config, not with urls")
	case o.URLs != "" && !strings.Contains(o.URLs, "://"):
		return nil,
			sdk.Invalid("urls",
				"want Apprise URLs such as mailto://… or tgram://…; the key of a stored configuration belongs in config")
	case !isKey(o.Config):
		return nil, sdk.Invalid("config", "want at most %d letters, digits, - or _, got %q", maxConfig, o.Config)
	}
	client, err := chat.Connect(env, o.Options, secrets(o.URLs)...)
	if err != nil {
		return nil, err
	}
	address := o.URL.JoinPath("notify")
	if o.Config != "" {
		address = address.JoinPath(o.Config)
	}
	return &apprise{Connection: client, url: address.String(), urls: o.URLs, tag: o.Tag}, nil
}

func isKey(text string) bool {
	return len(text) <= maxConfig && !strings.ContainsFunc(text, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// secrets are the parts of Apprise URLs that a response could repeat. Many hold
// a secret where other URLs have a host.
func secrets(urls string) []string {
	parts := []string{urls}
	for _, one := range separated(urls) {
		parts = append(parts, one)
		if u, err := url.Parse(one); err == nil {
			parts = append(parts, httpclient.SecretParts(u)...)
			parts = append(parts, u.User.Username(), u.Hostname())
		}
	}
	return parts
}

func separated(urls string) []string {
	return strings.FieldsFunc(urls, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '\t' })
}

// Run sends one notification to the server, which waits for the services.
//
// Its responses: 204 found no service to notify; 424 could not notify all of them.
// After a 424 a try again helps, but would repeat the message for the others,
// so it is only taken for a single URL.
func (a *apprise) Run(ctx context.Context, req trigger.Request) error {
	r, err := httpclient.NewRequest(ctx, http.MethodPost, a.url)
	if err != nil {
		return err
	}
	body, err := a.payload(req)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	httpclient.SetBody(r, "application/json", body)
	resp, err := a.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusNoContent:
		if a.urls != "" {
			return sdk.Invalid("urls", "the Apprise server knows none of these URLs; check how they are written")
		}
		return sdk.Invalid("config", "the Apprise server has no configuration with this key")
	case http.StatusFailedDependency:
		return a.undelivered(resp)
	}
	if err := a.CheckStatus(resp); err != nil {
		return err
	}
	// The notification was sent; the rest of the response is read to reuse the connection.
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	return nil
}

// undelivered explains a 424.
func (a *apprise) undelivered(resp *http.Response) error {
	reason := a.CheckStatus(resp).Error()
	if strings.Count(a.urls, "://") == 1 {
		return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("the service of urls was not notified: %s", reason))
	}
	return errors.New("some services may not have been notified, which the log of the Apprise server tells; not tried again, for the others would hear it twice: " + reason)
}

// payload is the body of a request, cut to what the server reads.
func (a *apprise) payload(req trigger.Request) ([]byte, error) {
	p := payload{URLs: a.urls, Tag: a.tag, Format: "text", Type: "info"}
	// A byte of text takes at most six in JSON.
	p.Title, _ = httpclient.TruncateBytes(req.Title, maxPayloadBytes/6/10)
	p.Body = chat.FitBytes(message.Body(req), maxPayloadBytes/6/10*8)
	return httpclient.EncodeJSON(p)
}
