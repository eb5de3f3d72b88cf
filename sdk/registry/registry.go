// Package registry is what a registry plugin implements: looking up repositories of images.
package registry

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Registry looks up repositories. Its methods are called concurrently.
//
// An error is one of the sdk kinds: sdk.ErrUnauthorized, sdk.ErrNotFound,
// sdk.ErrUnavailable or an *sdk.RateLimitedError.
//
// The host keeps the budgets of hosts by the requests of each call. Clients of package
// httpclient count them; what makes requests in another way calls sdk.Requested for each,
// or else the host takes every call for one request.
type Registry interface {
	// Hosts returns which hosts of image references this instance serves.
	Hosts() []Host
	// Tags lists the tags of a repository in any order. validator is that of an
	// earlier result, or "": a conditional request. When nothing has changed since,
	// the result may be NotModified with no tags.
	Tags(ctx context.Context, repo Repository, validator string) (TagList, error)
	// Resolve returns the digest behind a tag: of the index where there is one, else
	// of the manifest. It must not count as a pull where the registry tells them apart.
	Resolve(ctx context.Context, repo Repository, tag string) (string, error)
	// Manifest describes the image for one platform behind a digest, which may be
	// that of an index. The result never changes, so the host caches it. Of what is
	// neither an index nor an image manifest that can be read, such as one of schema 1,
	// the result is its digest alone: the host then decides by the digests. What is no
	// manifest at all, be it empty or broken off, is an error.
	Manifest(ctx context.Context, repo Repository, digest string, platform sdk.Platform) (Manifest, error)
}

// CredentialProvider is a Registry that can grant its credentials, so that an engine can pull.
type CredentialProvider interface {
	// Credentials returns what an engine needs to pull; the zero value when nothing is needed.
	Credentials(ctx context.Context, repo Repository) (sdk.Credentials, error)
}

// LimitReporter is a Registry that knows what its hosts allow.
type LimitReporter interface {
	// Limits returns the rate limits that hosts reported last, and which of them
	// get no requests for a time: each host once, sorted by name, and none that
	// reported nothing. It makes no request and returns at once.
	Limits() []Limit
}

// ConfigReader is a Registry that can read the configuration of an image, so that
// the host can show what an update changes before it is pulled.
type ConfigReader interface {
	// ImageConfig returns what the image for one platform behind a digest, which may be
	// that of an index, gives to containers. The result never changes, so the host
	// caches it. An image that is not there for the platform is an sdk.ErrNotFound;
	// what is no image with a configuration that can be read, such as a manifest of
	// schema 1, is an sdk.ErrUnsupported.
	ImageConfig(ctx context.Context, repo Repository, digest string, platform sdk.Platform) (sdk.ImageConfig, error)
}

// TagDescriber is a Registry that can say what is behind tags without a request that its
// host counts as a pull, where reading a manifest is one.
type TagDescriber interface {
	// DescribeTags returns what is behind a tag, or with "" behind the newest tags of the
	// repository, up to about a hundred. What is not known is missing: a tag, or a field of it.
	// The registry may be behind what Resolve returns, so the host compares the digests. The
	// host goes without the result when there is an error, such as an sdk.ErrUnsupported of
	// an instance whose host cannot tell.
	DescribeTags(ctx context.Context, repo Repository, tag string, platform sdk.Platform) ([]DescribedTag, error)
}

// DescribedTag is what a registry says of a tag.
type DescribedTag struct {
	Name string
	// Digest is that of the index where there is one, else of the manifest.
	Digest string
	// Image is the digest of the platform's own manifest, which is Digest where there is no index.
	Image string
	// Pushed is when Image was pushed.
	Pushed sdk.Time
	// Artifact is the type of what is no image; see Manifest.
	Artifact string
}

// Limit is the rate limit of a host.
type Limit struct {
	// Host is the host that the requests went to, with a port if it has one. It may differ from
	// that of image references: "registry-1.docker.io".
	Host string
	// Limit is how many requests, or pulls, the host allows per Window; 0 when it did not say.
	Limit int64
	// Remaining is how many of Limit were left.
	Remaining int64
	// Window is 0 when the host did not say.
	Window time.Duration
	// Source is whom the host counts: an address or an account; "" when it did not say.
	Source string
	// At is when the host said so.
	At sdk.Time
	// PausedUntil is the time before which the host wants no requests; zero when it takes them.
	PausedUntil sdk.Time
	// Pulls is true when the host counts pulls only: what reads manifests, but neither
	// lists of tags nor lookups of their digests.
	Pulls bool
	// ResetsAt is when Remaining is Limit again; zero when the host did not say.
	ResetsAt sdk.Time
}

// Host is a host that a registry serves.
type Host struct {
	// Pattern is a host with optional port ("ghcr.io", "localhost:5000"), "*.suffix" for
	// any host below suffix, or "*" for every host that nothing else serves. A "*" between
	// dots stands for one label: "*.dkr.ecr.*.amazonaws.com".
	Pattern string
	// URL is the base of the host's API, with scheme and "/v2"; "" means "https://{host}/v2".
	URL string
}

// Serves reports whether the pattern stands for a host, given with its port if it
// has one. Upper case does not matter.
func (h Host) Serves(host string) bool {
	pattern, host := strings.ToLower(h.Pattern), strings.ToLower(host)
	if pattern == "*" || strings.HasPrefix(pattern, "*.") { // which stands for one label or more
		for range strings.Count(host, ".") - strings.Count(pattern, ".") {
			_, host, _ = strings.Cut(host, ".")
		}
	}
	for more := true; more; {
		var want, label string
		var longer bool
		want, pattern, more = strings.Cut(pattern, ".")
		label, host, longer = strings.Cut(host, ".")
		if more != longer || want != label && (want != "*" || label == "") {
			return false
		}
	}
	return true
}

// Repository names a repository of a host.
type Repository struct {
	// Host is the registry host of the image reference: "docker.io".
	Host string
	// Name is the path: "library/nginx".
	Name string
	// ScopeHints are the token scope hints: repositories of the same host, this one
	// included, that are looked up in the same run: one token whose scope names them serves them all.
	ScopeHints []string
	// Credentials are those of the image's own, for requests to Host alone, where the instance has none that a user
	// configured; the zero value for none. They are neither kept nor passed on, as by a CredentialProvider.
	Credentials sdk.Credentials
}

// TagList is the result of Tags.
type TagList struct {
	Tags        []string
	Validator   string
	NotModified bool
}

// Manifest is the result of Registry.Manifest.
type Manifest struct {
	// Digest is the digest of the platform's own manifest.
	Digest string
	// Config is the digest of the image configuration: the image id of most engines. It
	// is "" when the manifest cannot be read.
	Config  string
	Created sdk.Time
	// Version is what the image says of its version (org.opencontainers.image.version), where that
	// was found without a request for it alone; "" when it is not known.
	Version string
	// Artifact is the type of what is no image, such as "application/vnd.cncf.helm.config.v1+json"
	// of a Helm chart; "" for images, and for what is not known.
	Artifact string
}

// Type is one implementation of a registry, as a bundle lists it.
type Type struct {
	kind.Type
	create func(sdk.Env, map[string]any) (Registry, error)
}

// Define makes a Type from a constructor. O is its options struct (see package
// option); T is what it returns, whose optional interfaces become capabilities.
func Define[O any, T Registry](
	name, summary string, create func(sdk.Env, O) (T, error), settings ...kind.Setting,
) Type {
	offers := map[string]reflect.Type{
		kind.CapCredentials: reflect.TypeFor[CredentialProvider](),
		kind.CapLimits:      reflect.TypeFor[LimitReporter](),
		kind.CapConfig:      reflect.TypeFor[ConfigReader](),
		kind.CapTags:        reflect.TypeFor[TagDescriber](),
		kind.CapProbe:       reflect.TypeFor[sdk.Prober](),
	}
	return Type{
		Type: kind.Define[O, T](kind.Registry, name, summary, offers, settings...),
		create: func(env sdk.Env, raw map[string]any) (Registry, error) {
			o, err := option.Decode[O](raw)
			if err != nil {
				return nil, err
			}
			return create(env, o)
		},
	}
}

// New makes an instance. Wrong options are an *sdk.InvalidError naming them.
func (t Type) New(env sdk.Env, options map[string]any) (Registry, error) {
	return t.create(env, options)
}
