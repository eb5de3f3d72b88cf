// Package oci is the registry client that all registry types share. It speaks
// the OCI distribution protocol
// (https://github.com/opencontainers/distribution-spec) and the token protocol
// of the distribution project
// (https://distribution.github.io/distribution/spec/auth/token/), with as few
// requests as they allow:
//
//   - there is no ping: the first request to a host is a real one, and the
//     challenge in its response is remembered;
//   - tokens are shared by all requests they cover until shortly before they
//     expire, and one token is requested for all repositories of a run (token
//     scope hints);
//   - digests are requested with HEAD, which registries do not count as a pull;
//   - lists of tags are read with a conditional request, by their ETag.
//
// All instances of a process share one Shared, and with it the tokens, the rate
// limits and the bound on requests in flight.
package oci

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Doer sends one request and follows its redirects, without credentials where
// they lead to another host. Its errors are of the kinds of package sdk.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Config describes one configured registry.
type Config struct {
	// Instance is its full id, for the remedies in errors: "registry.ghcr.main".
	Instance string
	// Hosts are what it serves; a request about another host is an error.
	Hosts []registry.Host
	HTTP  Doer
	// Login holds its credentials; nil when it is anonymous.
	Login Login
	// TokenHosts may receive the credentials besides hosts of the registry's own domain.
	TokenHosts []string
	// TokenHostsKey names the option that adds to TokenHosts; empty when the type has none.
	TokenHostsKey string
	// PublicImage is one that all clients may read, to probe the registry with; "" when none is known.
	PublicImage string
	// Keys names the options that hold credentials, such as "login and password".
	// Empty means that the type has none.
	Keys string
}

// Registry implements registry.Registry, registry.CredentialProvider,
// registry.LimitReporter and sdk.Prober. It is safe for concurrent use.
type Registry struct {
	Config
	shared     *Shared
	limitHosts limitHosts
}

// New makes a registry whose tokens and limits are those of s.
func (s *Shared) New(c Config) *Registry { return &Registry{Config: c, shared: s} }

// Open is New for an instance with its own HTTP client. secrets are what no
// error may hold, besides credentials that never change.
func (s *Shared) Open(env sdk.Env, o httpclient.Options, c Config, secrets ...string) (*Registry, error) {
	if known, ok := c.Login.(static); ok {
		secrets = append(secrets, known.Password, encodeBasic(sdk.Credentials(known)))
	}
	client, err := httpclient.New(env, o, secrets...)
	if err != nil {
		return nil, err
	}
	c.Instance, c.HTTP = env.Instance, client
	if s.defaultLogin != nil {
		s.defaultLogin.LogTo(env.Log)
	}
	for _, h := range c.Hosts {
		u, err := url.Parse(h.URL)
		if err == nil && u.Scheme == "http" && c.Login != nil && !reference.IsLoopback(u.Host) && env.Warn != nil {
			env.Warn(fmt.Sprintf("credentials travel unencrypted to http://%s; prefer https://", u.Host))
			break
		}
	}
	return s.New(c), nil
}

// Base returns the API's address from what an operator gives as the address
// of a registry in the option called key: with or without "/v2", and with what
// stands before every name of a repository below it, as a project does at
// https://harbor.example.com/v2/project.
func Base(key string, u *url.URL) (string, error) {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", sdk.Invalid(key, "must start with http:// or https://")
	case u.User != nil:
		return "", sdk.Invalid(key, "must not hold credentials; give them in their own options")
	case u.RawQuery != "" || u.Fragment != "":
		return "", sdk.Invalid(key, "must not have a query or fragment")
	case strings.ContainsAny(u.Path, ":@"):
		return "", sdk.Invalid(key, "must be the address of a registry, without a tag or digest of an image")
	}
	base := *u
	base.Path, base.RawPath = strings.TrimRight(u.Path, "/"), ""
	if !strings.HasSuffix(base.Path, apiRoot) && !strings.Contains(base.Path, apiRoot+"/") {
		base.Path += apiRoot
	}
	return base.String(), nil
}

// apiRoot is where the API begins (distribution specification, "Endpoints").
const apiRoot = "/v2"

// splitBase returns the root of the API at base, and what base puts before the
// names of repositories: "" or "project/".
func splitBase(base *url.URL) (root *url.URL, prefix string) {
	before, after, below := strings.Cut(base.Path, apiRoot+"/")
	if !below {
		return base, ""
	}
	root = &url.URL{Scheme: base.Scheme, Host: base.Host, Path: before + apiRoot}
	return root, after + "/"
}

// Mirrored returns the hosts that patterns stand for, with the API at the mirror where one is given.
func Mirrored(mirror *url.URL, patterns ...string) ([]registry.Host, error) {
	base := ""
	if mirror != nil {
		var err error
		if base, err = Base("mirror", mirror); err != nil {
			return nil, err
		}
	}
	return At(base, patterns...), nil
}

// At returns the hosts that patterns stand for, with the API at base; "" means at themselves.
func At(base string, patterns ...string) []registry.Host {
	hosts := make([]registry.Host, len(patterns))
	for i, p := range patterns {
		hosts[i] = registry.Host{Pattern: p, URL: base}
	}
	return hosts
}

// Hosts implements registry.Registry.
func (r *Registry) Hosts() []registry.Host { return r.Config.Hosts }

// Credentials implements registry.CredentialProvider.
func (r *Registry) Credentials(ctx context.Context, repo registry.Repository) (sdk.Credentials, error) {
	if _, err := r.base(repo.Host); err != nil {
		return sdk.Credentials{}, err
	}
	if r.Login == nil && r.shared.defaultLogin != nil {
		// An engine pulls from the host itself, not from its mirror.
		return r.shared.defaultLogin.Credentials(ctx, repo.Host)
	}
	return r.credentials(ctx, repo.Host)
}

// credentials returns what to log in with for requests about a host.
func (r *Registry) credentials(ctx context.Context, host string) (c sdk.Credentials, err error) {
	if r.Login == nil {
		c, err = r.defaultCredentials(ctx, host)
	} else {
		c, err = r.Login.Credentials(ctx, host)
	}
	if err != nil {
		return c, fmt.Errorf("log in to %s: %w", host, err)
	}
	return c, nil
}

// Close closes idle connections.
func (r *Registry) Close() error {
	if c, ok := r.HTTP.(interface{ Close() }); ok {
		c.Close()
	}
	return nil
}

// base returns where the API of a host is.
func (r *Registry) base(host string) (*url.URL, error) {
	i := slices.IndexFunc(r.Config.Hosts, func(h registry.Host) bool { return h.Serves(host) })
	if i < 0 || !reference.IsHost(host) {
		return nil, sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%s does not serve %q", r.Instance, host))
	}
	text := cmp.Or(r.Config.Hosts[i].URL, reference.BaseURL(host))
	u, err := url.Parse(text)
	if err != nil {
		return nil, sdk.Invalid("url", "the address of %s is malformed", host)
	}
	return u, nil
}

// request is what to request of a registry about a repository.
type request struct {
	repo   registry.Repository
	method string
	// path is below the repository: "tags/list".
	path   string
	query  string
	accept string
	// validator makes the request conditional.
	validator string
}

// address returns where to send the request, to the API at base.
func (req request) address(base *url.URL) (*url.URL, error) {
	if !isRepository(req.repo.Name) {
		return nil, sdk.Invalid("name", "%.80q is not the name of a repository", req.repo.Name)
	}
	u := base.JoinPath(req.repo.Name, req.path)
	u.RawQuery = req.query
	return u, nil
}

// isRepository accepts what can stand in a path without changing its meaning;
// whether the name is a good one is for the registry to say.
func isRepository(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsFunc(part, notInName) {
			return false
		}
	}
	return len(name) <= 255
}

func notInName(c rune) bool {
	return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-')
}
