// Package http calls a URL with the containers as JSON.
package http

import (
	"context"
	"io"
	nethttp "net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Options configures one http trigger.
type Options struct {
	URL     *url.URL `option:"url,required,secret,mask=url" help:"Address to call, http:// or https://" example:"https://example.com/hooks/updates"`
	Method  string   `option:"method" default:"POST" help:"Method; GET and HEAD carry the container in the query, any other in a JSON body"`
	Auth    Auth     `option:"auth"`
	Headers []string `option:"headers,secret" help:"More headers, as a list of Name=value"`
	httpclient.Options
}

// Auth is how to log in.
type Auth struct {
	Type     string `option:"type" choices:"BASIC,BEARER" help:"BASIC for auth.user and auth.password, BEARER for auth.bearer; without it, what is given tells"`
	User     string `option:"user" help:"User name"`
	Password string `option:"password,secret" help:"Password of auth.user"`
	Bearer   string `option:"bearer,secret" help:"Token"`
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("http", "Call a URL with the containers as JSON", New)
}

type http struct {
	chat.Connection
	url    *url.URL
	method string
	header nethttp.Header
}

var methodForm = regexp.MustCompile(`^[A-Z]+$`)

// New returns a trigger that calls one URL.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	method := strings.ToUpper(o.Method)
	if !methodForm.MatchString(method) || method == nethttp.MethodConnect {
		return nil, sdk.Invalid("method", "want a method such as POST, got %q", o.Method)
	}
	if !webaddress.Is(o.URL) {
		return nil, sdk.Invalid("url", "must start with http:// or https://")
	}
	header, err := headers(o)
	if err != nil {
		return nil, err
	}
	secrets := append(httpclient.SecretParts(o.URL), o.Auth.Password, o.Auth.Bearer)
	client, err := chat.Connect(env, o.Options, secrets...)
	if err != nil {
		return nil, err
	}
	return &http{Connection: client, url: o.URL, method: method, header: header}, nil
}

// Run makes one request: a single container as an object, a batch as an array.
func (h *http) Run(ctx context.Context, req trigger.Request) error {
	r, err := h.request(ctx, req)
	if err != nil {
		return err
	}
	resp, err := h.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := h.CheckStatus(resp); err != nil {
		return err
	}
	// The message has arrived; the rest of the response is read to reuse the connection.
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	return nil
}

func (h *http) request(ctx context.Context, req trigger.Request) (*nethttp.Request, error) {
	payload, err := httpclient.EncodeJSON(message.Content(req))
	if err != nil {
		return nil, err
	}
	r, err := httpclient.NewRequest(ctx, h.method, h.url.String())
	if err != nil {
		return nil, err
	}
	if h.method == nethttp.MethodGet || h.method == nethttp.MethodHead {
		if r.URL.RawQuery, err = query(r.URL.RawQuery, payload); err != nil {
			return nil, err
		}
	} else {
		httpclient.SetBody(r, "application/json", payload)
	}
	if req.Delivery != "" {
		// https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
		r.Header.Set("Idempotency-Key", url.QueryEscape(req.Delivery))
	}
	for name, values := range h.header {
		r.Header[name] = values
	}
	if host := h.header.Get("Host"); host != "" {
		r.Host = host
	}
	return r, nil
}
