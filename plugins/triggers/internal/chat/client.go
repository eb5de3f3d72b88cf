package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// maxWait bounds the wait that a service can ask for.
const maxWait = 24 * time.Hour

// Client speaks JSON with one chat service. It is safe for concurrent use.
type Client struct {
	Connection
	service Service
}

// Service is what a client speaks with.
type Service struct {
	// URL is its address, the value of Option, from which the addresses of requests are made.
	URL    *url.URL
	Option string
	// Header is sent with every request.
	Header http.Header
	// Explain returns nil for a response that is no error, or of which its status says all there is to say.
	Explain func(Response) *ServiceError
	// Secrets are texts that no error may hold: also those that are sent in headers.
	Secrets []string
}

// Connection is the client of a trigger that makes its own requests. A trigger that embeds it, or a Client, has Close.
type Connection struct{ *httpclient.Client }

// Connect returns a connection; secrets are texts that no error may hold.
func Connect(env sdk.Env, o httpclient.Options, secrets ...string) (Connection, error) {
	client, err := httpclient.New(env, o, secrets...)
	return Connection{client}, err
}

// Close closes connections that are not in use.
func (c Connection) Close() error {
	c.Client.Close()
	return nil
}

// Response is the response of a service.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// OK reports whether the status is a success.
func (a Response) OK() bool { return a.Status >= 200 && a.Status < 300 }

// Decode reads a body of JSON into v and reports whether it is one.
func (a Response) Decode(v any) bool { return json.Unmarshal(a.Body, v) == nil }

// ServiceError is an error response in the terms of its service.
type ServiceError struct {
	// Text is what the service says.
	Text string
	// Option is the option that is to blame, if one is.
	Option string
	// Kind is the kind of error, a sentinel of package sdk; nil for that of the status.
	Kind error
	// Wait is how long the service asks to wait; 0 when it does not, or says so in a header.
	Wait time.Duration
}

// New returns a client of a service whose URL must be an address on the web.
func New(env sdk.Env, o httpclient.Options, s Service) (*Client, error) {
	if err := CheckURL(s.Option, s.URL); err != nil {
		return nil, err
	}
	client, err := Connect(env, o, s.Secrets...)
	if err != nil {
		return nil, err
	}
	return &Client{client, s}, nil
}

// Hook is the service of a web hook: its address, the value of the option url, is a secret.
func Hook(address *url.URL, explain func(Response) *ServiceError) Service {
	return Service{URL: address, Option: "url", Explain: explain, Secrets: httpclient.SecretParts(address)}
}

// Post sends in as JSON to an address. The error is that of Send.
func (c *Client) Post(ctx context.Context, address string, in any) error {
	_, err := c.Send(ctx, http.MethodPost, address, in)
	return err
}

// Send makes one request, with in as JSON unless it is nil. Its results are those of Exchange.
func (c *Client) Send(ctx context.Context, method, address string, in any) (Response, error) {
	req, err := httpclient.NewRequest(ctx, method, address)
	if err != nil {
		return Response{}, err
	}
	if in != nil {
		payload, err := httpclient.EncodeJSON(in)
		if err != nil {
			return Response{}, err
		}
		httpclient.SetBody(req, "application/json; charset=utf-8", payload)
	}
	return c.Exchange(req)
}

// Exchange sends a request and returns the
// response of a service that did not refuse. The error is that of package
// httpclient, or of the problem: it has its kind, or is an *sdk.InvalidError
// about its option.
func (c *Client) Exchange(req *http.Request) (Response, error) {
	req.Header.Set("Accept", "application/json")
	maps.Copy(req.Header, c.service.Header)
	resp, err := c.Do(req)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	body, err := httpclient.ReadAll(resp, httpclient.MaxBody)
	response := Response{Status: resp.StatusCode, Header: resp.Header, Body: body}
	if err != nil && response.OK() {
		return Response{}, err
	}
	problem := c.service.Explain(response)
	if problem == nil {
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return response, c.CheckStatus(resp)
	}
	return response, c.explained(resp, *problem)
}

// explained makes an error of that of a service.
func (c *Client) explained(resp *http.Response, r ServiceError) error {
	resp.Body = io.NopCloser(strings.NewReader(r.Text))
	resp.Header.Set("Content-Type", "text/plain")
	err := c.CheckStatus(resp)
	if err == nil {
		err = sdk.Invalid("", "%s refused the message: %s", resp.Request.URL.Host, httpclient.Clean(r.Text, c.service.Secrets...))
	}
	var limited *sdk.RateLimitedError
	if errors.As(err, &limited) && r.Wait == 0 {
		return err
	}
	plain := errors.New(err.Error())
	if r.Wait > 0 {
		return sdk.RateLimited(min(r.Wait, maxWait), plain)
	}
	kind := r.Kind
	for _, k := range []error{sdk.ErrUnauthorized, sdk.ErrUnavailable} {
		if kind == nil && errors.Is(err, k) {
			kind = k
		}
	}
	switch {
	case kind != nil && r.Option != "":
		return sdk.WithKind(kind, errors.New(err.Error()+"; check "+r.Option))
	case kind != nil:
		return sdk.WithKind(kind, plain)
	case r.Option != "":
		return sdk.Invalid(r.Option, "%v", err)
	}
	return err
}

// Seconds is a duration that a service gave in seconds, to the millisecond; 0 for one that cannot be.
func Seconds(n float64) time.Duration {
	if !(n > 0) {
		return 0
	}
	return time.Duration(math.Round(min(n, maxWait.Seconds())*1000)) * time.Millisecond
}

// CheckURL returns an *sdk.InvalidError about option unless u, which may be
// nil, is an address on the web.
func CheckURL(option string, u *url.URL) error {
	if u == nil || webaddress.Is(u) {
		return nil
	}
	return sdk.Invalid(option, "must start with https:// or http://")
}
