package sdk

import (
	"context"
	"maps"
	"sync"
)

// Requests counts what a call sends to hosts. It is safe for concurrent use.
type Requests struct {
	mu    sync.Mutex
	hosts map[string]int
	known bool
}

type requestsKey struct{}

// CountRequests returns a context in which requests are counted, and their count. Clients of
// package httpclient count theirs, redirects and repetitions included; others call Requested.
func CountRequests(ctx context.Context) (context.Context, *Requests) {
	r := &Requests{}
	return context.WithValue(ctx, requestsKey{}, r), r
}

// Requested counts n requests to a host, with a port if it has one, for the call that ctx is of. With
// n = 0 it only says that the requests of the call are counted. It does nothing in a context
// that CountRequests has not made.
func Requested(ctx context.Context, host string, n int) {
	r, counted := ctx.Value(requestsKey{}).(*Requests)
	if !counted {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = true
	if n <= 0 {
		return
	}
	if r.hosts == nil {
		r.hosts = map[string]int{}
	}
	r.hosts[host] += n
}

// ByHost returns how many requests were made, by host. known is false when nothing counted them.
func (r *Requests) ByHost() (hosts map[string]int, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.hosts), r.known
}
