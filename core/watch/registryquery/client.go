// Package registryquery asks registries: which tags a repository has, what is behind them, when that was made. Each
// question is asked once, within what its host allows, and responses that do not change are kept in a cache. It
// stores nothing else and decides nothing.
package registryquery

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Registry reads repositories; see registry.Registry.
type Registry interface {
	Tags(ctx context.Context, repo registry.Repository, validator string) (registry.TagList, error)
	Resolve(ctx context.Context, repo registry.Repository, tag string) (string, error)
	Manifest(ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform) (registry.Manifest,
		error)
}

// Describer says what is behind tags; see registry.TagDescriber.
type Describer interface {
	DescribeTags(ctx context.Context, repo registry.Repository, tag string,
		platform sdk.Platform) ([]registry.DescribedTag, error)
}

// Match is the registry component that serves a host.
type Match struct {
	// ID is the component's id: "hub.public".
	ID string
	// URL is the base of the host's API.
	URL      string
	Registry Registry
	// Describer is nil where the registry cannot say what is behind tags without a pull.
	Describer Describer
}

// Registries finds the registry that serves a host.
type Registries interface {
	For(host string) (Match, bool)
}

// Cache keeps responses of registries between runs. It may forget.
type Cache interface {
	Get(ctx context.Context, key string) (validator string, body []byte, found bool)
	Put(ctx context.Context, key, validator string, body []byte)
}

// Limits bound the requests to registries.
type Limits struct {
	// PerHost is how many requests one host gets at a time.
	PerHost int
	// Total is how many requests are under way at a time.
	Total int
}

// Options configure a Client.
type Options struct {
	Registries Registries
	Cache      Cache
	Limits     Limits
	// Budget counts the requests to each host, and knows how many some of them get; nil for one without allowances.
	Budget *budget.Book
	// Reports returns what the hosts of a registry, by its id, said last of their limits, without
	// a request to them; see registry.LimitReporter. Nil for nothing.
	Reports func(ctx context.Context, registry string) []registry.Limit
	// Spare returns the same, for what is asked only where requests are to spare: when releases were made, and
	// what they are. Nil for never.
	Spare func(ctx context.Context, registry string) []registry.Limit
	// ReadCandidates has the newest candidates of a container read once each, to leave out what is
	// no image, or was built long before what runs. It takes Spare.
	ReadCandidates bool
	Decisions      Decisions
	Now            func() time.Time
}

// Decisions say what becomes of candidates, so that of those that matter more is asked.
type Decisions interface {
	// Decide returns what becomes of the update of a container with what was found so far.
	Decide(c *sdk.Container, rules policy.Rules, found policy.Found, now time.Time) policy.Decision
	// Chosen reports whether a user made a choice about the update of a container, by its subject.
	Chosen(subject string) bool
}

// Client asks registries. Its methods may be called concurrently.
type Client struct {
	opt       Options
	limiter   *limiter
	absent    absent
	described described
	releases  releases
}

// repository is one of a registry.
type repository struct {
	match Match
	repo  registry.Repository
}

// New returns a Client.
func New(opt Options) *Client {
	if opt.Budget == nil {
		opt.Budget = budget.NewBook(nil, opt.Now)
	}
	return &Client{opt: opt, limiter: newLimiter(opt), releases: newReleases()}
}

// Request makes a request to a host, within its limits and budget, which counts it. When the host asks for a short
// pause, the request is retried once after it; when it asks for more, every request to it fails at once until then,
// with a *PostponedError.
func (cl *Client) Request(ctx context.Context, host string, request func(context.Context) error) error {
	return cl.limiter.do(ctx, host, request)
}

// Pull is Request for one that reads a manifest, which some hosts count as a pull.
func (cl *Client) Pull(ctx context.Context, host string, request func(context.Context) error) error {
	return cl.limiter.pull(ctx, host, request)
}

// Budget counts the requests to each host.
func (cl *Client) Budget() *budget.Book { return cl.opt.Budget }

// For returns the registry that serves a host, if there is one.
func (cl *Client) For(host string) (Match, bool) { return cl.opt.Registries.For(host) }
