package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
)

const (
	callTimeout = 30 * time.Second
	dialTimeout = 10 * time.Second
	// idleTimeout is shorter than that of common proxies, so that they do not close a connection that is about to be used.
	idleTimeout = 20 * time.Second
	// concurrency bounds the requests to an engine at once.
	concurrency = 4
	// oldestAPI is the first version whose responses have what is needed (Docker 1.12, 2016).
	oldestAPI = "1.24"
)

// engine is the client of one engine. The API version is negotiated with the first
// request and again when another version of the engine refuses it. All methods may be called concurrently.
type engine struct {
	at        endpoint
	userAgent string
	transport *transport
	timeout   time.Duration
	silence   time.Duration // of a pull, after which it has ended

	mu  sync.Mutex
	api *client.Client // nil until the version of the engine is known
	// identity is the client for requests of identityAPI; nil where the engine does not speak it.
	identity *client.Client
}

// newEngine makes a client that only reads, unless it may write. It does not connect.
func newEngine(at endpoint, userAgent string, writes bool) *engine {
	t := newTransport(at)
	t.writes = writes
	return &engine{at: at, userAgent: userAgent, transport: t, timeout: callTimeout, silence: pullSilence}
}

// writes reports whether the client sends requests that change something.
func (e *engine) writes() bool { return e.transport.writes }

// isPodman reports whether the last response was from Podman.
func (e *engine) isPodman() bool { return e.transport.podman.Load() }

func (e *engine) close() { e.transport.next.CloseIdleConnections() }

// operation is what a request is for: the words for errors, and the setting of a socket proxy that allows it.
type operation struct{ what, allow string }

var (
	connecting = operation{"connect", "PING"}
	readEvents = operation{"follow events", "EVENTS"}
)

// containers leaves out what has no id: it could not be identified.
func (e *engine) containers(ctx context.Context, all bool) ([]container.Summary, error) {
	list, err := request(ctx, e, operation{"list containers", "CONTAINERS"},
		func(ctx context.Context, api *client.Client) ([]container.Summary, error) {
			return api.ContainerList(ctx, container.ListOptions{All: all})
		})
	return slices.DeleteFunc(list, func(c container.Summary) bool { return c.ID == "" }), err
}

func (e *engine) container(ctx context.Context, id string) (container.InspectResponse, error) {
	return request(ctx, e, operation{"inspect container " + short(id), "CONTAINERS"},
		func(ctx context.Context, api *client.Client) (container.InspectResponse, error) {
			return api.ContainerInspect(ctx, id)
		})
}

func (e *engine) images(ctx context.Context) ([]image.Summary, error) {
	return request(ctx, e, operation{"list images", "IMAGES"},
		func(ctx context.Context, api *client.Client) ([]image.Summary, error) {
			return api.ImageList(ctx, image.ListOptions{})
		})
}

func (e *engine) image(ctx context.Context, id string) (image.InspectResponse, error) {
	return request(ctx, e, operation{"inspect image " + short(id), "IMAGES"},
		func(ctx context.Context, api *client.Client) (image.InspectResponse, error) {
			return api.ImageInspect(ctx, id)
		})
}

// events opens the stream of the container events that have one of the actions, beginning with
// those since an instant of the engine's clock if that is not zero. The stream ends with ctx.
// The client library stops at the first event it cannot read, hence the plain request.
func (e *engine) events(ctx context.Context, since time.Time, actions []string) (io.ReadCloser, error) {
	// Only the wait for the response is limited, not the stream.
	ctx, cancel := context.WithCancelCause(ctx)
	limit := time.AfterFunc(e.timeout, func() { cancel(context.DeadlineExceeded) })
	defer limit.Stop()
	open := func(api *client.Client) (io.ReadCloser, error) {
		args := filters.NewArgs(filters.Arg("type", "container"))
		for _, action := range actions {
			args.Add("event", action)
		}
		wanted, err := filters.ToJSON(args)
		if err != nil {
			return nil, err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url(api.ClientVersion(), "/events"), nil)
		if err != nil {
			return nil, err
		}
		query := request.URL.Query()
		query.Set("filters", wanted)
		if !since.IsZero() {
			query.Set("since", unix(since))
		}
		request.URL.RawQuery = query.Encode()
		request.Header.Set("User-Agent", e.userAgent)
		response, err := e.transport.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		return response.Body, nil
	}
	body, err := attempt(ctx, e, open)
	if err != nil {
		if context.Cause(ctx) == context.DeadlineExceeded {
			err = context.DeadlineExceeded
		}
		cancel(nil)
		return nil, e.explain(readEvents, err)
	}
	return stream{body, func() { cancel(nil) }}, nil
}

// unix is an instant as engines take it: in seconds, with nanoseconds behind the point.
func unix(t time.Time) string { return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond()) }

// stream frees its context when it is closed.
type stream struct {
	io.ReadCloser
	cancel func()
}

func (s stream) Close() error {
	s.cancel()
	return s.ReadCloser.Close()
}

func (e *engine) url(version, path string) string {
	host, scheme := e.at.address, "http"
	if e.at.network == "unix" {
		host = client.DummyHost
	}
	if e.at.tls != nil {
		scheme = "https"
	}
	return scheme + "://" + host + e.at.prefix + "/v" + version + path
}

// request makes one request within the engine's timeout; errors are explained.
func request[T any](
	ctx context.Context, e *engine, op operation, send func(context.Context, *client.Client) (T, error),
) (T, error) {
	limited, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	response, err := attempt(limited, e, func(api *client.Client) (T, error) { return send(limited, api) })
	switch {
	case err == nil:
		return response, nil
	case ctx.Err() != nil:
		return response, fmt.Errorf("docker engine at %s: %s: %w", e.at, op.what, context.Cause(ctx))
	}
	return response, e.explain(op, err)
}

// attempt connects and sends a request; it retries once if another version of the
// engine runs now, with which the API version has to be negotiated again.
func attempt[T any](ctx context.Context, e *engine, send func(*client.Client) (T, error)) (T, error) {
	var none T
	api, err := e.connect(ctx)
	if err != nil {
		return none, err
	}
	response, err := send(api)
	if !isVersionRefusal(err) {
		return response, err
	}
	e.forget(api)
	if api, err = e.connect(ctx); err != nil {
		return none, err
	}
	return send(api)
}

// connect returns a client that speaks the engine's version.
func (e *engine) connect(ctx context.Context) (*client.Client, error) {
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

func (e *engine) forget(api *client.Client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.api == api {
		e.api = nil
	}
}

func (e *engine) client(more ...client.Opt) (*client.Client, error) {
	host, scheme := "tcp://"+e.at.address+e.at.prefix, "http"
	if e.at.network == "unix" {
		host = e.at.String()
	}
	if e.at.tls != nil {
		scheme = "https"
	}
	return client.NewClientWithOpts(append([]client.Opt{
		client.WithHost(host),
		client.WithScheme(scheme),
		client.WithHTTPClient(&http.Client{Transport: e.transport, CheckRedirect: client.CheckRedirect}),
		client.WithUserAgent(e.userAgent),
	}, more...)...)
}

// transport sends read requests only, whatever the client library does, unless the
// watcher may update containers. It turns every failure into a *failure.
type transport struct {
	at     endpoint
	writes bool
	next   *http.Transport
	podman atomic.Bool
}

// newTransport connects directly: HTTP proxies are for registries, an engine's
// address is one that its clients reach.
func newTransport(at endpoint) *transport {
	dialer := &net.Dialer{
		Timeout: dialTimeout,
		// A peer that vanished is noticed within a minute, also behind an idle event stream.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3},
	}
	return &transport{at: at, next: &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			if at.network == "unix" {
				address = at.address
			}
			return dialer.DialContext(ctx, at.network, address)
		},
		TLSClientConfig:     at.tls,
		TLSHandshakeTimeout: dialTimeout,
		MaxIdleConnsPerHost: concurrency,
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
		return nil, noConnection(t.at, err)
	case r.Method != http.MethodHead && response.StatusCode >= 300:
		defer response.Body.Close()
		return nil, refusal(response)
	}
	return response, nil
}

// maxMessage is how much of an engine's error message is read.
const maxMessage = 2 << 10

// refusal reads the error that an engine sent, or a proxy before it, which may say it in plain text or in HTML.
func refusal(response *http.Response) *failure {
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
