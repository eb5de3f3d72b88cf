// Package httpclient is the HTTP client of plugins. It gives every request a
// deadline, a user agent and a bound on its response, supports proxies and
// private certificate authorities, keeps credentials on the host they are for,
// and turns failures into the kinds of package sdk. Rate limits of responses are
// errors with the time to wait; retries and their backoff are the host's.
//
// Its errors name the method, scheme and host of a request and nothing else of
// it: no path, query, user or header, so a secret in any of them stays there.
// A response may repeat a secret; the client blanks the secrets that New got and
// the credentials of the request itself.
package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/redact"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxRedirects is how many redirects one request follows.
const maxRedirects = 10

// maxPerHost is how many connections to a host there are, all of which stay open for the next requests: as many as
// checks may make requests to a host at once.
const maxPerHost = 64

// Client makes requests. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	agent   string
	timeout time.Duration
	hide    redact.Secrets
}

// New returns a client. secrets are texts that no error may hold, such as a
// token in the path of a URL; those in the headers or the user part of a
// request need not be listed. Wrong options are an *sdk.InvalidError.
func New(env sdk.Env, o Options, secrets ...string) (*Client, error) {
	return newIn(network{reach: reachOf}, env, o, secrets...)
}

func newIn(n network, env sdk.Env, o Options, secrets ...string) (*Client, error) {
	config, err := o.TLS.Config()
	if err != nil {
		return nil, err
	}
	if o.TLS.Insecure && env.Warn != nil {
		env.Warn("tls.insecure: certificates are not verified; prefer tls.cafile")
	}
	if o.Proxy != nil {
		if !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, o.Proxy.Scheme) {
			return nil, sdk.Invalid("proxy", "want a URL that starts with http://, https:// or socks5://")
		}
		if password, has := o.Proxy.User.Password(); has {
			secrets = append(secrets, password)
		}
	}
	c := &Client{agent: env.UserAgent, timeout: o.Timeout, hide: redact.New(secrets...)}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	if o.Proxy != nil {
		transport.Proxy = http.ProxyURL(o.Proxy)
	}
	transport.OnProxyConnectResponse = proxyError
	transport.MaxConnsPerHost = maxPerHost
	transport.MaxIdleConnsPerHost = maxPerHost
	transport.MaxIdleConns = 4 * maxPerHost
	transport.ReadBufferSize, transport.WriteBufferSize = 2<<10, 2<<10 // of every connection; most answers are short
	transport.IdleConnTimeout = 30 * time.Second
	transport.MaxResponseHeaderBytes = 256 << 10
	transport.HTTP2 = &http.HTTP2Config{
		MaxReceiveBufferPerConnection: 4 << 20,
		MaxReceiveBufferPerStream:     1 << 20,
		SendPingTimeout:               15 * time.Second, // a connection that broke without a notice is closed
		PingTimeout:                   10 * time.Second,
	}
	c.http = &http.Client{Transport: newRoutes(n, transport), Timeout: c.timeout, CheckRedirect: checkRedirect}
	return c, nil
}

// Close closes connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do sends a request. The response's body must be closed; reading more than
// MaxBody bytes of it is an error wrapping ErrTooLarge, unless LimitBody says otherwise.
// A status is not an error here: see CheckStatus.
//
// Errors are sdk.ErrUnavailable when a retry may help, an *sdk.InvalidError
// when an option must change, and context.Canceled when the caller cancelled.
//
// Redirects are followed ten times. To another host only headers that hold no
// credentials go along, and never a body. A redirect from https to http is
// refused, and one from a public address to another host at a private one.
//
// Link-local, multicast and unspecified addresses and the metadata services of
// clouds are never connected to, under whatever name. Behind a proxy, names are
// the proxy's to look up and are not checked.
//
// Every request that is sent is counted in the context of req, see sdk.CountRequests and sdk.Answered.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return nil, sdk.Invalid("url", "must start with http:// or https://")
	}
	req = req.Clone(start(req.Context()))
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.agent)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.explain(req, "", err)
	}
	resp.Body = &body{ReadCloser: resp.Body, left: MaxBody, max: MaxBody, explain: func(err error) error {
		return c.explain(req, "reading the answer: ", err)
	}}
	return resp, nil
}

// NewRequest is http.NewRequestWithContext whose error does not repeat the URL.
func NewRequest(ctx context.Context, method, address string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, sdk.Invalid("url", "the method or the URL is malformed")
	}
	return req, nil
}

// origin names where a request goes: scheme and host, without user, path or query.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// publicHeaders hold no credentials: they follow a redirect to another host.
// Any other header is taken for a secret.
var publicHeaders = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "Content-Length", "Cache-Control",
	"If-None-Match", "If-Modified-Since", "Idempotency-Key", "Range", "User-Agent",
}

func isPublic(header string) bool {
	return slices.Contains(publicHeaders, http.CanonicalHeaderKey(header))
}

// checkRedirect decides on one redirect. The headers of req are those of the
// first request, so a chain that left its host once has lost its credentials for the rest of it.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	// Only a relative address has the user of the last request.
	from := via[len(via)-1].URL
	if user := req.URL.User; user != nil && user.String() != from.User.String() {
		return sdk.WithKind(sdk.ErrUnavailable,
			errors.New("the server redirects to an address with credentials of its own, which is refused"))
	}
	if from.Scheme == "https" && req.URL.Scheme == "http" {
		return sdk.WithKind(sdk.ErrUnavailable,
			fmt.Errorf("the server redirects to the unencrypted address %s, which is refused", origin(req.URL)))
	}
	// The standard client would repeat the path and query of the last request here.
	req.Header.Del("Referer")
	status := req.Response.StatusCode
	reading := first.Method == http.MethodGet || first.Method == http.MethodHead
	if !reading && req.Method != first.Method && status != http.StatusSeeOther {
		return sdk.Invalid("url", "the server redirects (%d) to %s, which would lose the message; use that address",
			status, origin(req.URL))
	}
	if !left(first.URL, append(via[1:len(via):len(via)], req)) {
		return nil
	}
	if req.Body != nil && req.Body != http.NoBody {
		return sdk.Invalid("url",
			"the server redirects (%d) to %s, another host, which does not get the message; use that address if it is right", status, origin(req.URL))
	}
	for header := range req.Header {
		if !isPublic(header) {
			req.Header.Del(header)
		}
	}
	return nil
}

// left reports whether any of the requests goes to another host than from.
func left(from *url.URL, requests []*http.Request) bool {
	return slices.ContainsFunc(requests, func(r *http.Request) bool { return !sameHost(from, r.URL) })
}

// sameHost accepts the same scheme, name and port, and a step from http to
// https on the same name.
func sameHost(a, b *url.URL) bool {
	if !strings.EqualFold(a.Hostname(), b.Hostname()) {
		return false
	}
	return a.Scheme == b.Scheme && port(a) == port(b) || a.Scheme == "http" && b.Scheme == "https"
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// proxyError explains why a proxy did not open a tunnel.
func proxyError(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusProxyAuthRequired:
		return sdk.WithKind(sdk.ErrUnauthorized,
			fmt.Errorf("the proxy %s wants other credentials; write them as user:password@ in proxy", origin(proxy)))
	}
	return sdk.WithKind(sdk.ErrUnavailable,
		fmt.Errorf("the proxy %s answered %s", origin(proxy), statusText(resp.StatusCode)))
}
