package registryquery

import (
	"context"
	"net/url"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
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

// apiHost is where the requests of a registry go; "" when that is not known.
func (m Match) apiHost() string {
	if base, err := url.Parse(m.URL); err == nil {
		return base.Host
	}
	return ""
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
	// PerHost is how many requests one host gets at a time at most: as many as it answers without getting slower.
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
	// Log says when a host gets fewer requests at a time; nil for no log.
	Log hclog.Logger
	Now func() time.Time
}

// Decisions say what becomes of candidates, so that of those that matter more is asked.
type Decisions interface {
	// Decide returns what becomes of the update of a container with what was found so far.
	Decide(c *sdk.Container, rules policy.Rules, found candidate.Found, now time.Time) policy.Decision
	// Chosen reports whether a user made a choice about the update of a container, by its subject.
	Chosen(subject string) bool
}
