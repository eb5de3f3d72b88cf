package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/docker/docker/client"
)

// call is a request of which the body, or more than the path, is set.
type call struct {
	method, path string
	version      string // of the API; "" for the negotiated one
	query        url.Values
	header       http.Header
	in, out      any           // JSON; nil for none. An out that is an io.Writer takes the response as it is
	content      []byte        // instead of in: a tar archive
	limit        time.Duration // 0 for that of the engine
}

// do sends a request. That something is so already (304) is no error. The client
// library is not used: it would change what is sent, such as the names of capabilities.
func (e *Engine) do(ctx context.Context, op endpointCall, c call) error {
	c.limit = cmp.Or(c.limit, e.Timeout)
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	response, err := attempt(limited, e, func(api *client.Client) (*http.Response, error) {
		return e.send(limited, api, c)
	})
	if err == nil {
		defer response.Body.Close()
		switch out := c.out.(type) {
		case nil:
			_, err = io.Copy(io.Discard, response.Body)
		case io.Writer:
			_, err = io.Copy(out, response.Body)
		default:
			err = json.NewDecoder(response.Body).Decode(out)
		}
	}
	var f *failure
	switch {
	case errors.As(err, &f) && f.status == http.StatusNotModified, err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("docker engine at %s: %s: %w", e.Endpoint, op.what, context.Cause(ctx))
	case limited.Err() != nil:
		err = tooLate(c.limit)
	}
	return e.explain(op, err)
}

func (e *Engine) send(ctx context.Context, api *client.Client, c call) (*http.Response, error) {
	var body io.Reader
	if c.in != nil {
		text, err := json.Marshal(c.in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	if c.content != nil {
		body = bytes.NewReader(c.content)
	}
	version := cmp.Or(c.version, api.ClientVersion())
	request, err := http.NewRequestWithContext(ctx, c.method, e.url(version, c.path), body)
	if err != nil {
		return nil, err
	}
	request.URL.RawQuery = c.query.Encode()
	for name, values := range c.header {
		request.Header[name] = values
	}
	request.Header.Set("User-Agent", e.UserAgent)
	if c.in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.content != nil {
		request.Header.Set("Content-Type", "application/x-tar")
	}
	return e.transport.RoundTrip(request)
}

// changeLimit bounds the requests that create, start and remove containers.
const changeLimit = 2 * time.Minute

// Post changes a container.
func (e *Engine) Post(ctx context.Context, what, path string, values url.Values, in, out any) error {
	return e.do(ctx, endpointCall{what, "POST"}, call{
		method: http.MethodPost, path: path, query: values, in: in, out: out, limit: changeLimit,
	})
}

// StartMissing requests to start a container that does not exist: what refuses the request takes no changes.
func (e *Engine) StartMissing(ctx context.Context) error {
	return e.do(ctx, endpointCall{"check for permission", "POST"}, call{
		method: http.MethodPost, path: "/containers/dogwatch-permission-check/start",
	})
}

// Query makes a query of names, each followed by its value.
func Query(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return values
}
