package shoutrrr

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// client makes the requests of one service for one delivery: through the HTTP
// client of the instance and until the delivery's context ends, neither of which
// the library does. It keeps failures, of which the library keeps at most a text.
type client struct {
	ctx  context.Context
	http *httpclient.Client // nil while a URL is only checked

	mu    sync.Mutex
	used  bool  // whether the library made a request
	first error // the first failure
	last  error // that of the last request, nil for a success
}

var errOffline = errors.New("nothing is sent while options are checked")

// Do is http.Client.Do, except that responses other than 2xx are errors.
func (c *client) Do(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = true
	switch {
	case c.http == nil:
		return nil, errOffline
	case sdk.Retryable(c.last):
		return nil, c.last // the library retries at once; the host does it with a backoff
	}
	resp, err := c.send(req.WithContext(c.ctx))
	if c.first == nil {
		c.first = err
	}
	c.last = err
	return resp, err
}

func (c *client) send(req *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if err := c.http.CheckStatus(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// outcome returns the error of a delivery of which the library returned err: the
// failure of a request, which has a kind, where there is one; own is false for
// the error of the library.
func (c *client) outcome(err error) (result error, own bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		return c.last, true
	}
	if c.first != nil {
		return c.first, true
	}
	return err, false
}
