package shoutrrr

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// courier makes the requests of one service for one delivery: through our
// client and until the delivery's context ends, neither of which the library
// sees to. It remembers failures, of which the library keeps but a text, or nothing.
type courier struct {
	ctx  context.Context
	http *httpclient.Client // nil while a URL is only checked

	mu    sync.Mutex
	asked bool
	first error // the first failure
	last  error // that of the last request, nil for a success
}

var errOffline = errors.New("nothing is sent while options are checked")

// Do is http.Client.Do but for answers other than 2xx, which are errors.
func (c *courier) Do(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = true
	switch {
	case c.http == nil:
		return nil, errOffline
	case sdk.Retryable(c.last):
		return nil, c.last // the library tries again at once; the host knows better when
	}
	resp, err := c.ask(req.WithContext(c.ctx))
	if c.first == nil {
		c.first = err
	}
	c.last = err
	return resp, err
}

func (c *courier) ask(req *http.Request) (*http.Response, error) {
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

// outcome is how a delivery ended of which the library says err: the failure of
// a request says it better, and has a kind. Some services lose it.
func (c *courier) outcome(err error) (told error, ours bool) {
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
