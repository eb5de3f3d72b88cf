// Package registryquery asks registries: which tags a repository has, what is behind them, when that was made. Each
// question is asked once, within what its host allows, and responses that do not change are kept in a cache. It
// stores nothing else and decides nothing.
package registryquery

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/watch/hostlimit"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Client asks registries. Its methods may be called concurrently.
type Client struct {
	opt     Options
	limiter *hostlimit.Limiter

	absent    memory[string, absence]
	described memory[string, describedList]
	releases  memory[candidate.Release, reading]
	// unlimited counts requests for releases to hosts that do not say what they allow.
	unlimited hourly

	tagLists sharing[[]string]
	digests  sharing[string]
}

// repository is one of a registry.
type repository struct {
	registry.Repository
	match Match
	// source tells the credentials of an image from those of others, "" for those of the registry. Who has others may
	// see other things.
	source string
	// since is when a request to it must have begun for its response to count, whichever check made it; zero for
	// requests of its own alone.
	since time.Time
}

// New returns a Client.
func New(opt Options) *Client {
	if opt.Budget == nil {
		opt.Budget = budget.NewBook(nil, opt.Now)
	}
	cl := &Client{opt: opt, limiter: hostlimit.New(hostlimit.Options{
		PerHost: opt.Limits.PerHost, Total: opt.Limits.Total, Budget: opt.Budget, Reports: opt.Reports, Now: opt.Now,
		Log: opt.Log,
		APIOf: func(host string) (id, api string, served bool) {
			match, served := opt.Registries.For(host)
			return match.ID, match.apiHost(), served
		},
	})}
	cl.tagLists.size, cl.digests.size = sizeOfTags, func(digest string) int { return len(digest) }
	cl.absent.max, cl.described.max, cl.releases.max = maxAbsent, maxDescribed, maxReleases
	return cl
}

// Request makes a request to a host; see hostlimit.Limiter.Do.
func (cl *Client) Request(ctx context.Context, host string, request func(context.Context) error) error {
	return cl.limiter.Do(ctx, host, false, request)
}

// Pull is Request for one that reads a manifest, which some hosts count as a pull.
func (cl *Client) Pull(ctx context.Context, host string, request func(context.Context) error) error {
	return cl.limiter.Do(ctx, host, true, request)
}

// Concurrency returns how many requests each host gets at a time now; see hostlimit.Limiter.Concurrency.
func (cl *Client) Concurrency() map[string]int { return cl.limiter.Concurrency() }

// Budget counts the requests to each host.
func (cl *Client) Budget() *budget.Book { return cl.opt.Budget }

// For returns the registry that serves a host, if there is one.
func (cl *Client) For(host string) (Match, bool) { return cl.opt.Registries.For(host) }

// Shortage returns the shortage of a host for as many calls, if there is one. It makes no request.
func (cl *Client) Shortage(ctx context.Context, host string, calls int) (s hostlimit.Shortage, short bool) {
	return cl.limiter.Shortage(ctx, host, calls)
}
