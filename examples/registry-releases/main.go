// Command registry-releases is a Dogwatch plugin with one type of registry,
// "releases", which offers the releases of a project as the tags of an image.
package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// version is set when the plugin is built: -ldflags "-X main.version=1.0.0".
var version = "dev"

func main() {
	plugin.Serve(plugin.Bundle{Version: version, Registries: []registry.Type{releasesType()}})
}

func releasesType() registry.Type {
	return registry.Define("releases", "Offer the releases of GitHub, Gitea, Forgejo or a feed as tags", newReleases)
}

// options are the schema that the host documents and checks.
type options struct {
	Host        string   `option:"host,required" help:"Made-up host of the image references that are looked up here: HOST/owner/project:1.2.3" example:"releases.github"`
	Format      string   `option:"format" default:"github" choices:"github,gitea,atom,json" help:"What the address serves: the API of GitHub or of Gitea and Forgejo, an Atom feed, or other JSON"`
	URL         *url.URL `option:"url" default:"https://api.github.com" help:"Address of the service, or of a feed, in which {repository} stands for owner/project" example:"https://codeberg.org"`
	Token       string   `option:"token,secret" help:"Token that is sent as Authorization: Bearer; GitHub allows 60 requests an hour without one"`
	Prereleases bool     `option:"prereleases" default:"false" help:"Offer pre-releases too"`
	Pattern     string   `option:"pattern" default:".+" help:"Regular expression that finds the version in a release's tag or title; its first group if it has one" example:"^release-(.*)"`
	Items       string   `option:"items" help:"Format json: where the array of releases is, keys with dots between them; without it the document is the array"`
	Version     string   `option:"version" default:"version" help:"Format json: where a release has its version"`
	Date        string   `option:"date" default:"date" help:"Format json: where a release has its date, in the form of ISO 8601"`
	httpclient.Options
}

// releases remembers what it read for a moment: the host looks up tags, digest
// and manifest one after the other.
type releases struct {
	options
	pattern *regexp.Regexp
	client  *httpclient.Client

	mu       sync.Mutex
	recently map[string]recent
}

// recent is what a project had until a moment ago.
type recent struct {
	until time.Time
	list  []release
}

func newReleases(env sdk.Env, o options) (*releases, error) {
	pattern, err := regexp.Compile(o.Pattern)
	switch {
	case err != nil:
		return nil, sdk.Invalid("pattern", "%v", err)
	case o.URL.Scheme != "http" && o.URL.Scheme != "https":
		return nil, sdk.Invalid("url", "want an address that starts with http:// or https://")
	case o.Format != "github" && o.URL.Host == "api.github.com":
		return nil, sdk.Invalid("url", "want the address of the service, which is not GitHub for format %s", o.Format)
	case strings.ContainsAny(o.Host, "/*@ ") || o.Host != strings.ToLower(o.Host) || !strings.ContainsAny(o.Host, ".:"):
		return nil, sdk.Invalid("host", "want a host in lower case with a dot, such as releases.github, got %q", o.Host)
	}
	client, err := httpclient.New(env, o.Options, o.Token)
	return &releases{options: o, pattern: pattern, client: client, recently: map[string]recent{}}, err
}

// Hosts says which image references are looked up here.
func (r *releases) Hosts() []registry.Host { return []registry.Host{{Pattern: r.Host}} }

// Tags lists the versions of a project. A service that confirms that nothing has
// changed since counts no request.
func (r *releases) Tags(ctx context.Context, repo registry.Repository, validator string) (registry.TagList, error) {
	list, validator, err := r.read(ctx, repo, validator)
	if err != nil || list == nil {
		return registry.TagList{NotModified: err == nil, Validator: validator}, err
	}
	tags := registry.TagList{Validator: validator}
	for _, release := range list {
		tags.Tags = append(tags.Tags, release.tag)
	}
	return tags, nil
}

// Resolve returns a digest that changes when a release is published anew.
func (r *releases) Resolve(ctx context.Context, repo registry.Repository, tag string) (string, error) {
	found, err := r.find(ctx, repo, func(release release) bool { return release.tag == tag })
	return found.digest, err
}

// Manifest says when a release was published; nothing else of an image applies.
func (r *releases) Manifest(
	ctx context.Context, repo registry.Repository, digest string, _ sdk.Platform,
) (registry.Manifest, error) {
	found, err := r.find(ctx, repo, func(release release) bool { return release.digest == digest })
	if err != nil {
		return registry.Manifest{}, err
	}
	return registry.Manifest{Digest: found.digest, Config: found.digest, Created: found.published}, nil
}

// Close is called once, after the last call.
func (r *releases) Close() error {
	r.client.Close()
	return nil
}

func (r *releases) find(ctx context.Context, repo registry.Repository, wanted func(release) bool) (release, error) {
	r.mu.Lock()
	known := r.recently[repo.Name]
	r.mu.Unlock()
	if time.Now().After(known.until) {
		list, _, err := r.read(ctx, repo, "")
		if err != nil {
			return release{}, err
		}
		known.list = list
	}
	for _, release := range known.list {
		if wanted(release) {
			return release, nil
		}
	}
	return release{}, sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%s has no such release", repo.Name))
}

// read returns the releases of a project; nil when they are unchanged under their validator.
func (r *releases) read(ctx context.Context, repo registry.Repository, validator string) ([]release, string, error) {
	req, err := httpclient.NewRequest(ctx, http.MethodGet, r.address(repo.Name))
	if err != nil {
		return nil, "", err
	}
	if validator != "" {
		req.Header.Set("If-None-Match", validator)
	}
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	if validator != "" && resp.StatusCode == http.StatusNotModified {
		return nil, validator, nil
	}
	err = r.client.CheckStatus(resp)
	if resp.StatusCode == http.StatusForbidden && resp.Header.Get("X-RateLimit-Remaining") == "0" {
		err = sdk.RateLimited(httpclient.ParseRetryAfter(resp.Header, time.Now()), err) // as GitHub says it
	}
	if err != nil {
		return nil, "", err
	}
	text, err := httpclient.ReadAll(resp, httpclient.MaxBody)
	if err != nil {
		return nil, "", err
	}
	list, err := r.parse(text)
	if err != nil {
		return nil, "", sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("the releases of %s: %w", repo.Name, err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(r.recently, func(_ string, old recent) bool { return now.After(old.until) })
	r.recently[repo.Name] = recent{until: now.Add(30 * time.Second), list: list}
	return list, resp.Header.Get("ETag"), nil
}
