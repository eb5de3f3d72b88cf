// Package cluster asks the API server of a Kubernetes cluster: it lists objects, page by page, watches them, and
// applies fields of a workload. What comes in is where the server is and who asks; what goes out are objects with the
// few fields that a watcher reads, and errors that say which rule a role lacks. It keeps nothing, and tries nothing
// again: that is informer's.
//
// Protocol facts are from https://kubernetes.io/docs/reference/using-api/api-concepts/.
package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// answerTimeout is how long the server may take to begin an answer.
	answerTimeout = 30 * time.Second
	// pageTimeout is how long a page of a list may take as a whole.
	pageTimeout = 2 * time.Minute
	// maxPage bounds a page of a list, and maxEvent an event of a watch, in bytes. An object has 1.5 MiB at most, which
	// is what etcd takes.
	maxPage, maxEvent = 1 << 30, 8 << 20
	// pageSize is how many objects of a list are requested at a time.
	pageSize = 500
)

// Endpoint is where an API server is, and who asks.
type Endpoint struct {
	// Server is the address, with the prefix of its paths if there is one.
	Server *url.URL
	TLS    *tls.Config
	// Proxy is the proxy to it; nil for that of the environment.
	Proxy *url.URL
	// Token authenticates each request; "" where TLS does, or nothing. TokenFile has the token instead, and is read
	// for each request, since the kubelet renews it within the hour.
	Token, TokenFile string
	// Login says in words what authenticates: "the token in /…/token".
	Login string
}

// Client makes requests to one API server. It is safe for concurrent use.
type Client struct {
	http             *http.Client
	base             *url.URL
	token, tokenFile string
	login, agent     string
}

// New returns a client. It does not connect.
func New(e Endpoint, agent string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = e.TLS
	if e.Proxy != nil {
		transport.Proxy = http.ProxyURL(e.Proxy)
	}
	transport.ResponseHeaderTimeout = answerTimeout
	transport.MaxResponseHeaderBytes = 256 << 10
	// A connection that broke without a notice is closed, and its watches with it.
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}
	return &Client{
		http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // an API server has none, and a token is for that server alone
		}},
		base: e.Server, token: e.Token, tokenFile: e.TokenFile, login: e.Login, agent: agent,
	}
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Host returns the host of the server.
func (c *Client) Host() string { return c.base.Host }

// secrets are the texts that no error may have.
func (c *Client) secrets() []string {
	token, _ := c.bearer()
	return []string{token}
}

// bearer returns the token; "" for none.
func (c *Client) bearer() (string, error) {
	if c.tokenFile == "" {
		return c.token, nil
	}
	text, err := os.ReadFile(c.tokenFile)
	if err != nil {
		return "", sdk.WithKind(sdk.ErrUnauthorized, fmt.Errorf("read the token of the service account: %w", err))
	}
	return strings.TrimSpace(string(text)), nil
}

// get requests a resource. The body of the response must be closed.
func (c *Client) get(ctx context.Context, verb string, r Resource, query string) (*http.Response, error) {
	resp, err := c.send(ctx, request{path: r.path(), query: query})
	if err != nil {
		return nil, c.unreachable(verb, r, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, c.failure(verb, r, resp)
	}
	return resp, nil
}

// request is what is asked of the server: to read, or to apply a patch.
type request struct {
	path, query string
	patch       []byte // nil to read
}

// send sends a request. Its error may have the whole address.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	at := c.base.JoinPath(r.path)
	at.RawQuery = r.query
	method := http.MethodGet
	if r.patch != nil {
		method = http.MethodPatch
	}
	req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(r.patch))
	if err != nil {
		return nil, err
	}
	token, err := c.bearer()
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if r.patch != nil {
		req.Header.Set("Content-Type", "application/apply-patch+yaml") // which JSON is, too
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.agent)
	return c.http.Do(req)
}

// Version returns the version of the server, "v1.34.4"; "" where it does not say.
func (c *Client) Version(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	resp, err := c.send(ctx, request{path: "version"})
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, maxStatus)).Decode(&version) != nil {
		return ""
	}
	return version.GitVersion
}
