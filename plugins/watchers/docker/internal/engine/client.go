// Package engine is the client of a Docker Engine, or of anything that speaks its API, such as Podman: what is
// requested of it, in which version of the API, within what time, and what its errors mean to a user. Podman 4
// and engines since Docker 1.12 respond alike here; what they differ in stays in this package where it can.
//
// Protocol facts are from https://docs.docker.com/reference/api/engine/.
package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
)

const (
	callTimeout = 30 * time.Second
	dialTimeout = 10 * time.Second
	// idleTimeout is shorter than that of common proxies, so that they do not close a connection that is about to be used.
	idleTimeout = 20 * time.Second
	// Concurrency bounds the requests to an engine at once.
	Concurrency = 4
	// oldestAPI is the first version whose responses have what is needed (Docker 1.12, 2016).
	oldestAPI = "1.24"
)

// Engine is the client of one engine. The API version is negotiated with the first
// request and again when another version of the engine refuses it. All methods may be called concurrently.
type Engine struct {
	Endpoint  Endpoint
	UserAgent string
	// Timeout bounds requests that change nothing, and PullSilence how long the engine says nothing of a pull.
	Timeout, PullSilence time.Duration

	transport *transport

	mu  sync.Mutex
	api *client.Client // nil until the version of the engine is known
	// identity is the client for requests of identityAPI; nil where the engine does not speak it.
	identity *client.Client
}

// New makes a client that only reads, unless it may write. It does not connect.
func New(endpoint Endpoint, userAgent string, writes bool) *Engine {
	t := newTransport(endpoint)
	t.writes = writes
	return &Engine{Endpoint: endpoint, UserAgent: userAgent, transport: t, Timeout: callTimeout, PullSilence: pullSilence}
}

// Writes reports whether the client sends requests that change something.
func (e *Engine) Writes() bool { return e.transport.writes }

// IsPodman reports whether the last response was from Podman.
func (e *Engine) IsPodman() bool { return e.transport.podman.Load() }

// Close drops the connections that are not in use.
func (e *Engine) Close() {
	e.transport.next.CloseIdleConnections()
	if e.Endpoint.SSH != nil {
		e.Endpoint.SSH.Close()
	}
}

// endpointCall is what a request is for: the words for errors, and the setting of a socket proxy that allows it.
type endpointCall struct{ what, allow string }

var (
	connecting = endpointCall{"connect", "PING"}
	readEvents = endpointCall{"follow events", "EVENTS"}
)

func (e *Engine) url(version, path string) string {
	host, scheme := e.Endpoint.Address, "http"
	if e.Endpoint.Network == "unix" {
		host = client.DummyHost
	}
	if e.Endpoint.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + host + e.Endpoint.Prefix + "/v" + version + path
}

// request makes one request within the engine's timeout; errors are explained.
func request[T any](
	ctx context.Context, e *Engine, op endpointCall, send func(context.Context, *client.Client) (T, error),
) (T, error) {
	limited, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	response, err := attempt(limited, e, func(api *client.Client) (T, error) { return send(limited, api) })
	switch {
	case err == nil:
		return response, nil
	case ctx.Err() != nil:
		return response, fmt.Errorf("docker engine at %s: %s: %w", e.Endpoint, op.what, context.Cause(ctx))
	}
	return response, e.explain(op, err)
}

// attempt connects and sends a request; it retries once if another version of the
// engine runs now, with which the API version has to be negotiated again.
func attempt[T any](ctx context.Context, e *Engine, send func(*client.Client) (T, error)) (T, error) {
	var none T
	api, err := e.Connect(ctx)
	if err != nil {
		return none, err
	}
	response, err := send(api)
	if !isVersionError(err) {
		return response, err
	}
	e.forget(api)
	if api, err = e.Connect(ctx); err != nil {
		return none, err
	}
	return send(api)
}

// Connect returns a client that speaks the engine's version.
func (e *Engine) Connect(ctx context.Context) (*client.Client, error) {
	e.mu.Lock()
	api := e.api
	e.mu.Unlock()
	if api != nil {
		return api, nil
	}
	api, err := e.client()
	if err != nil {
		return nil, err
	}
	ping, err := api.Ping(ctx)
	switch {
	case err != nil:
		return nil, e.explain(connecting, err)
	case ping.APIVersion == "":
		return nil, e.explain(connecting, &failure{
			text: "what answers there is no Docker Engine: check the address and the port",
		})
	case versions.LessThan(ping.APIVersion, oldestAPI):
		return nil, e.explain(connecting, &failure{
			text: "its API version " + ping.APIVersion + " is older than " + oldestAPI + ": update the Docker Engine",
		})
	}
	api.NegotiateAPIVersionPing(ping)
	var identity *client.Client
	if !versions.LessThan(ping.APIVersion, identityAPI) {
		if identity, err = e.client(client.WithVersion(identityAPI)); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.api, e.identity = api, identity
	return api, nil
}

func (e *Engine) forget(api *client.Client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.api == api {
		e.api = nil
	}
}

func (e *Engine) client(more ...client.Opt) (*client.Client, error) {
	host, scheme := "tcp://"+e.Endpoint.Address+e.Endpoint.Prefix, "http"
	if e.Endpoint.Network == "unix" {
		host = "unix://" + e.Endpoint.Address
	}
	if e.Endpoint.TLS != nil {
		scheme = "https"
	}
	return client.NewClientWithOpts(append([]client.Opt{
		client.WithHost(host),
		client.WithScheme(scheme),
		client.WithHTTPClient(&http.Client{Transport: e.transport, CheckRedirect: client.CheckRedirect}),
		client.WithUserAgent(e.UserAgent),
	}, more...)...)
}

// transport sends read requests only, whatever the client library does, unless the
// watcher may update containers. It turns every failure into a *failure.
type transport struct {
	endpoint Endpoint
	writes   bool
	next     *http.Transport
	podman   atomic.Bool
}

// newTransport connects directly, or through the proxy of the endpoint: those of the environment are for registries.
func newTransport(endpoint Endpoint) *transport {
	dialer := &net.Dialer{
		Timeout: dialTimeout,
		// A peer that vanished is noticed within a minute, also behind an idle event stream.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3},
	}
	proxy := func(*http.Request) (*url.URL, error) { return endpoint.Proxy, nil }
	return &transport{endpoint: endpoint, next: &http.Transport{
		Proxy: proxy, OnProxyConnectResponse: refusedByProxy,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			if endpoint.Network == "unix" {
				address = endpoint.Address
			}
			if endpoint.SSH != nil {
				return endpoint.SSH.DialContext(ctx, endpoint.Network, address)
			}
			return dialer.DialContext(ctx, endpoint.Network, address)
		},
		TLSClientConfig:     endpoint.TLS,
		TLSHandshakeTimeout: dialTimeout,
		MaxIdleConnsPerHost: Concurrency,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true, // it would hold events back
	}}
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !t.writes {
		return nil, &failure{text: "a watcher only reads without its option update, and does not " + r.Method}
	}
	response, err := t.next.RoundTrip(r)
	if err == nil {
		t.podman.Store(response.Header.Get(podmanHeader) != "")
	}
	switch {
	case err != nil && r.Context().Err() != nil:
		return nil, err
	case err != nil:
		return nil, noConnection(t.endpoint, err)
	case r.Method != http.MethodHead && response.StatusCode >= 300:
		defer response.Body.Close()
		return nil, errorOf(response)
	}
	return response, nil
}

// maxMessage is how much of an engine's error message is read.
const maxMessage = 2 << 10

// errorOf reads the error that an engine sent, or a proxy before it, which may say it in plain text or in HTML.
func errorOf(response *http.Response) *failure {
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxMessage))
	var document struct{ Message string }
	message := string(body)
	switch {
	case json.Unmarshal(body, &document) == nil && document.Message != "":
		message = document.Message
	case strings.TrimSpace(message) == "" || strings.Contains(message, "<"):
		message = response.Status
	}
	return &failure{status: response.StatusCode, text: strings.Join(strings.Fields(message), " ")}
}

// podmanHeader is in every response of Podman's service, and in none of a Docker Engine.
const podmanHeader = "Libpod-Api-Version"

// About returns what the engine says of itself, such as "Docker/28.5.1 (linux),
// API 1.51". It costs one ping; what a proxy hides is left out.
func (e *Engine) About(ctx context.Context) (string, error) {
	return request(ctx, e, connecting, func(ctx context.Context, api *client.Client) (string, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url(api.ClientVersion(), "/_ping"), nil)
		if err != nil {
			return "", err
		}
		request.Header.Set("User-Agent", e.UserAgent)
		response, err := e.transport.RoundTrip(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		_, _ = io.CopyN(io.Discard, response.Body, maxMessage) // so that the connection is reused
		var parts []string
		if server := response.Header.Get("Server"); server != "" {
			parts = append(parts, server)
		}
		if version := response.Header.Get("Api-Version"); version != "" {
			parts = append(parts, "API "+version)
		}
		return strings.Join(parts, ", "), nil
	})
}
