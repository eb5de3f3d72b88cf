package sdk

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Requests counts what a call sends to hosts. It is safe for concurrent use.
type Requests struct {
	mu    sync.Mutex
	hosts map[string]int
	known bool
	load  Load
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

// Load is what the answers to the requests of a call say of how much the host has to do.
type Load struct {
	// Latency is how long the host took for its fastest answer, once it had the request; 0 when that is not known.
	Latency time.Duration
	// Throttled means that the host refused a request because there are too many, with 429 or 503, though it may have
	// answered another one then.
	Throttled bool
}

// Answered notes for the call that ctx is of how a host took one of its requests. Clients of package httpclient do so
// by themselves. It does nothing in a context that CountRequests has not made.
func Answered(ctx context.Context, l Load) {
	r, counted := ctx.Value(requestsKey{}).(*Requests)
	if !counted {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load.Throttled = r.load.Throttled || l.Throttled
	if l.Latency > 0 && (r.load.Latency <= 0 || l.Latency < r.load.Latency) {
		r.load.Latency = l.Latency
	}
}

// Load returns what the answers said.
func (r *Requests) Load() Load {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.load
}
