package registrytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/kittest"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

type shelfOptions struct {
	URL      *url.URL `option:"url,required" help:"Where the shelf is"`
	Password string   `option:"password,secret" help:"What opens it"`
}

// shelf is a registry that uses a server of its own invention.
type shelf struct {
	o    shelfOptions
	flaw broken
}

// broken changes how a shelf responds.
type broken struct {
	hosts    func() []registry.Host
	tags     func(registry.TagList, error) (registry.TagList, error)
	resolve  func(string, error) (string, error)
	manifest func(registry.Manifest, error) (registry.Manifest, error)
	config   func(sdk.ImageConfig, error) (sdk.ImageConfig, error)
	limits   []registry.Limit
}

func (s *shelf) Hosts() []registry.Host {
	if s.flaw.hosts != nil {
		return s.flaw.hosts()
	}
	return []registry.Host{{Pattern: s.o.URL.Host, URL: s.o.URL.String()}}
}

func (s *shelf) Tags(ctx context.Context, repo registry.Repository, validator string) (registry.TagList, error) {
	var list registry.TagList
	err := s.request(ctx, &list, "tags", repo.Name, validator)
	if s.flaw.tags != nil {
		return s.flaw.tags(list, err)
	}
	return list, err
}

func (s *shelf) Resolve(ctx context.Context, repo registry.Repository, tag string) (string, error) {
	var digest string
	err := s.request(ctx, &digest, "resolve", repo.Name, tag)
	if s.flaw.resolve != nil {
		return s.flaw.resolve(digest, err)
	}
	return digest, err
}

func (s *shelf) Manifest(
	ctx context.Context, repo registry.Repository, digest string, p sdk.Platform,
) (registry.Manifest, error) {
	var m registry.Manifest
	err := s.request(ctx, &m, "manifest", repo.Name, digest+p.Architecture)
	if s.flaw.manifest != nil {
		return s.flaw.manifest(m, err)
	}
	return m, err
}

func (s *shelf) ImageConfig(
	ctx context.Context, repo registry.Repository, digest string, p sdk.Platform,
) (sdk.ImageConfig, error) {
	var c sdk.ImageConfig
	err := s.request(ctx, &c, "config", repo.Name, digest+p.Architecture)
	if s.flaw.config != nil {
		return s.flaw.config(c, err)
	}
	return c, err
}

func (s *shelf) Credentials(context.Context, registry.Repository) (sdk.Credentials, error) {
	return sdk.Credentials{Username: "u", Password: s.o.Password}, nil
}

func (s *shelf) Limits() []registry.Limit {
	if s.flaw.limits != nil {
		return s.flaw.limits
	}
	return []registry.Limit{{Host: s.o.URL.Host, Limit: 100, Remaining: 99, Window: time.Hour, At: sdk.TimeOf(time.Now())}}
}

func (s *shelf) request(ctx context.Context, result any, words ...string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		s.o.URL.String()+"/?q="+url.QueryEscape(strings.Join(words, " ")), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return sdk.WithKind(sdk.ErrUnavailable, errors.New("the shelf is out of reach"))
	}
	defer resp.Body.Close()
	err = fmt.Errorf("the shelf responded %d", resp.StatusCode)
	switch resp.StatusCode {
	case http.StatusOK:
		return json.NewDecoder(resp.Body).Decode(result)
	case http.StatusUnauthorized, http.StatusForbidden:
		return sdk.WithKind(sdk.ErrUnauthorized, err)
	case http.StatusNotFound:
		return sdk.WithKind(sdk.ErrNotFound, err)
	case http.StatusTooManyRequests:
		after, _ := time.ParseDuration(resp.Header.Get("Retry-After") + "s")
		return sdk.RateLimited(after, err)
	}
	return sdk.WithKind(sdk.ErrUnavailable, err)
}

// digest is what the shelf's only tag stands for.
var digest = "sha256:" + strings.Repeat("d", 64)

// keeper is the server of a shelf.
func keeper(t *testing.T) string {
	results := map[string]any{
		"tags library/nginx ":                        registry.TagList{Tags: []string{"1.25.3", "1.27.0"}, Validator: "v1"},
		"tags library/nginx v1":                      registry.TagList{NotModified: true, Validator: "v1"},
		"resolve library/nginx 1.25.3":               digest,
		"manifest library/nginx " + digest + "amd64": registry.Manifest{Digest: digest, Config: digest},
		"config library/nginx " + digest + "amd64": sdk.ImageConfig{
			Platform: sdk.Platform{OS: "linux", Architecture: "amd64"}, Size: 1 << 20,
		},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		result, known := results[r.URL.Query().Get("q")]
		if !known {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(result)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func service(url string) Service {
	return Service{
		Options: map[string]any{"url": url, "password": "t0ps3cret"},
		Repository: registry.Repository{
			Host: strings.TrimPrefix(url, "http://"), Name: "library/nginx", ScopeHints: []string{"library/nginx"},
		},
		Tag: "1.25.3",
	}
}

func define(b broken) registry.Type {
	return registry.Define("shelf", "A shelf of images", func(_ sdk.Env, o shelfOptions) (*shelf, error) {
		return &shelf{o, b}, nil
	})
}

func shelfCase() Case {
	return Case{
		Working: func(t *testing.T) Service {
			s := service(keeper(t))
			s.Digest = digest
			return s
		},
		Hanging: func(t *testing.T, reached func()) Service { return service(plugintest.Hanging(t, reached)) },
		Failing: HTTPFailures(service),
		timeout: 2 * time.Second,
	}
}

func TestRunPassesValidType(t *testing.T) { Run(t, define(broken{}), shelfCase()) }

func TestRunFailsInvalidTypes(t *testing.T) {
	bad := func(check, want string, b broken) kittest.Bad {
		return kittest.Bad{Check: check, Want: want, Run: func(t *testing.T) { Run(t, define(b), shelfCase()) }}
	}
	kittest.MustFail(t, map[string]kittest.Bad{
		"no hosts": bad("hosts", "serves no hosts", broken{hosts: func() []registry.Host { return nil }}),
		"a URL as a host": bad("hosts", "is no host pattern", broken{hosts: func() []registry.Host {
			return []registry.Host{{Pattern: "https://ghcr.io"}}
		}}),
		"tags without the tag": bad("responses", "among them",
			broken{tags: func(l registry.TagList, err error) (registry.TagList, error) {
				l.Tags = nil
				return l, err
			}}),
		"another digest": bad("responses", "resolve 1.25.3", broken{resolve: func(d string, err error) (string, error) {
			return strings.ToUpper(d), err
		}}),
		"no configuration": bad("responses", "the manifest lacks",
			broken{manifest: func(m registry.Manifest, err error) (registry.Manifest, error) {
				m.Config = ""
				return m, err
			}}),
		"a configuration for another platform": bad("responses", "is of an image for",
			broken{config: func(c sdk.ImageConfig, err error) (sdk.ImageConfig, error) {
				c.Platform.Architecture = "riscv64"
				return c, err
			}}),
		"a missing image that has a configuration": bad("missing", "configuration of a missing image",
			broken{config: func(c sdk.ImageConfig, err error) (sdk.ImageConfig, error) {
				return c, nil
			}}),
		"a limit of no host": bad("responses", "a limit that cannot be", broken{limits: []registry.Limit{{Limit: 1}}}),
		"limits out of order": bad("responses", "one per host, sorted", broken{
			limits: []registry.Limit{{Host: "b"}, {Host: "a"}},
		}),
		"limits of one host": bad("responses", "one per host, sorted", broken{
			limits: []registry.Limit{{Host: "a"}, {Host: "a"}},
		}),
		"missing is unavailable": bad("missing", "want an sdk.ErrNotFound",
			broken{resolve: func(d string, err error) (string, error) {
				if err != nil {
					err = sdk.WithKind(sdk.ErrUnavailable, errors.New(err.Error()))
				}
				return d, err
			}}),
		"missing has no tags": bad("missing", "tags of a missing repository",
			broken{tags: func(l registry.TagList, err error) (registry.TagList, error) {
				return l, nil
			}}),
		"no Digest": {Check: "responses", Want: "Service.Digest", Run: func(t *testing.T) {
			c := shelfCase()
			c.Working = func(t *testing.T) Service { return service(keeper(t)) }
			Run(t, define(broken{}), c)
		}},
	})
}
