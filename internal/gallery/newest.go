package gallery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

const (
	// maxIndex is the largest index that is read, in bytes.
	maxIndex = 1 << 20
	// newestLimit is how long reading it may take.
	newestLimit = 15 * time.Second
	// freshFor is how long an answer counts without another request.
	freshFor = time.Minute
)

// Newest reads the index of the newest release from its address. It is safe for concurrent use.
type Newest struct {
	address *url.URL
	client  *httpclient.Client
	now     func() time.Time

	mu   sync.Mutex
	have Index
	etag string
	err  error     // of the last request
	at   time.Time // of the last answer
}

// NewNewest returns a reader of an address, which has to be an https:// one.
func NewNewest(address *url.URL, agent string, now func() time.Time) (*Newest, error) {
	client, err := httpclient.New(sdk.Env{UserAgent: agent}, httpclient.Options{Timeout: newestLimit})
	if err != nil {
		return nil, err
	}
	return &Newest{address: address, client: client, now: now}, nil
}

// Close closes its connections.
func (n *Newest) Close() { n.client.Close() }

// Read returns the index, by a request at most once a minute, which transfers nothing where it has not changed. What
// is in it is somebody else's word: see Index.Over.
func (n *Newest) Read(ctx context.Context) (Index, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.at.IsZero() && n.now().Sub(n.at) < freshFor {
		return n.have, n.err
	}
	if err := n.read(ctx); err != nil {
		n.have, n.etag, n.err = Index{}, "", fmt.Errorf("read the newest index of plugins from %s (plugins.gallery): %w",
			n.address.Host, err)
	} else {
		n.err = nil
	}
	n.at = n.now()
	return n.have, n.err
}

func (n *Newest) read(ctx context.Context) error {
	if n.address.Scheme != "https" {
		return errors.New("want an address that starts with https://")
	}
	req, err := httpclient.NewRequest(ctx, http.MethodGet, n.address.String())
	if err != nil {
		return err
	}
	if n.etag != "" {
		req.Header.Set("If-None-Match", n.etag) // RFC 9110, section 13.1.2
	}
	resp, err := n.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified && n.etag != "" {
		return nil
	}
	if err := n.client.CheckStatus(resp); err != nil {
		return err
	}
	text, err := httpclient.ReadAll(resp, maxIndex)
	if err != nil {
		return err
	}
	x, err := Parse(text)
	if err != nil {
		return err
	}
	n.have, n.etag = x, resp.Header.Get("ETag")
	return nil
}
