package notes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// fresh is for how long releases are not asked for again, and missingFresh for how
	// long those of a repository that cannot be read.
	fresh        = time.Hour
	missingFresh = 6 * time.Hour
	// retryAfter is for how long a host that failed is left alone.
	retryAfter = time.Minute
)

// Notes are what publishers say about the versions between two.
type Notes struct {
	// Repository is the address of the repository; "" when it is not known.
	Repository string `json:"repository,omitempty"`
	// FoundBy is what names the repository: a label, "link", or "image".
	FoundBy string `json:"foundBy,omitempty"`
	// Running and Offered are the versions between which the notes are, without the first;
	// "" when one is not known.
	Running string `json:"running,omitempty"`
	Offered string `json:"offered,omitempty"`
	// Notes are the releases, the newest first.
	Notes []Note `json:"notes"`
	// Incomplete is true when there may be older releases that are not in Notes.
	Incomplete bool `json:"incomplete,omitempty"`
	// Reason says why there are none, or why they may be out of date; "" when all is well.
	Reason string `json:"reason,omitempty"`
	// FetchedAt is when the host of the repository was last asked with success.
	FetchedAt sdk.Time `json:"fetchedAt,omitzero"`
}

// Note is a release.
type Note struct {
	Version string   `json:"version"`
	Name    string   `json:"name,omitempty"`
	Date    sdk.Time `json:"date,omitzero"`
	URL     string   `json:"url"`
	// Body is Markdown, as its author wrote it. Truncated is true when the end is missing.
	Body      string `json:"body,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
	// Breaking and Action are lines of Body that warn of a breaking change, and of something
	// that has to be done.
	Breaking []string `json:"breaking,omitempty"`
	Action   []string `json:"action,omitempty"`
}

// Cache keeps responses beyond the process.
type Cache interface {
	// Get returns what was put under a key, with its validator, or false.
	Get(ctx context.Context, key string) (validator string, body []byte, found bool)
	Put(ctx context.Context, key, validator string, body []byte)
}

// Options are what a Reader needs.
type Options struct {
	// Allowed are hosts that may be inside the network.
	Allowed []string
	// Forges are which forge a host is, where its name does not say so.
	Forges map[string]Forge
	// Tokens log in to hosts, by name.
	Tokens map[string]string
	Cache  Cache
	// Transport connects in tests; nil for one that refuses addresses inside the network.
	Transport *http.Transport
	Log       hclog.Logger
	Now       func() time.Time
}

// Reader reads notes. Its methods may be called concurrently.
type Reader struct {
	opt    Options
	client *http.Client
	// fetching has room for the one request that is under way.
	fetching chan struct{}

	mu      sync.Mutex // of blocked
	blocked map[string]blocked
}

// blocked is why a host is left alone, and until when.
type blocked struct {
	until time.Time
	err   error
}

// New returns a Reader. It connects to nothing yet.
func New(opt Options) *Reader {
	allowed := map[string]bool{}
	for _, host := range opt.Allowed {
		allowed[host] = true
	}
	return &Reader{opt: opt, client: newClient(allowed, opt.Transport), fetching: make(chan struct{}, 1), blocked: map[string]blocked{}}
}

// Of returns the notes of what a container is offered. Repositories are asked where the
// cache is too old; what cannot be read is said in Reason.
func (r *Reader) Of(ctx context.Context, c *sdk.Container) Notes {
	n := Notes{Notes: []Note{}}
	if !c.UpdateAvailable || c.Result == nil {
		n.Reason = "there is no update"
		return n
	}
	n.Running, n.Offered = running(c), offered(c)
	repository, by, found := Find(c, r.opt.Forges)
	if !found {
		n.Reason = "not known: no label of the image names a repository of GitHub, GitLab, Gitea or Forgejo, nor does a link template"
		return n
	}
	n.Repository, n.FoundBy = repository.URL(), by
	kept, err := r.releases(ctx, repository)
	n.FetchedAt = sdk.Time{Time: kept.At}
	if err != nil {
		n.Reason = fmt.Sprintf("the releases of %s cannot be read: %v", n.Repository, err)
		if len(kept.Releases) > 0 {
			n.Reason += "; these are of " + kept.At.UTC().Format("2 Jan 15:04 UTC")
		}
	}
	n.choose(kept.Releases, repository)
	switch {
	case n.Reason != "" || len(n.Notes) > 0:
	case len(kept.Releases) == 0:
		n.Reason = "the repository has tags at most, and no releases"
	case n.Running == "" && n.Offered == "":
		n.Reason = "not known: neither the tag nor a label says which version runs"
	default:
		n.Reason = "no release is between the version that runs and the one that is offered"
	}
	return n
}

// kept are the releases of a repository as the cache has them.
type kept struct {
	ETag     string    `json:"-"`
	At       time.Time `json:"at"`
	Missing  bool      `json:"missing,omitempty"`
	Releases []release `json:"releases"`
}

// keyPrefix begins the keys of the cache, with the version of what is kept.
const keyPrefix = "notes/1/"

func keyOf(r Repository) string { return keyPrefix + string(r.Forge) + "/" + r.Host + "/" + r.Path }

func (r *Reader) cached(ctx context.Context, repository Repository) (k kept, found bool) {
	validator, body, found := r.opt.Cache.Get(ctx, keyOf(repository))
	if !found || json.Unmarshal(body, &k) != nil {
		return kept{}, false
	}
	k.ETag = validator
	return k, true
}

// fit returns whether the cache needs no request, with the error that it keeps.
func (r *Reader) fit(k kept) (bool, error) {
	age := r.opt.Now().Sub(k.At)
	if k.Missing {
		return age < missingFresh, errMissing
	}
	return age < fresh, nil
}

// releases returns the releases of a repository. With an error they may be older ones.
func (r *Reader) releases(ctx context.Context, repository Repository) (kept, error) {
	have, found := r.cached(ctx, repository)
	if found {
		if fit, err := r.fit(have); fit {
			return have, err
		}
	}
	select {
	case r.fetching <- struct{}{}:
		defer func() { <-r.fetching }()
	case <-ctx.Done():
		return have, ctx.Err()
	}
	if have, found = r.cached(ctx, repository); found { // another reader may have fetched them
		if fit, err := r.fit(have); fit {
			return have, err
		}
	}
	if err := r.blockedBy(repository.Host); err != nil {
		return have, err
	}
	now := r.opt.Now()
	all, etag, until, err := fetch(ctx, r.client, repository, r.opt.Tokens[repository.Host], have.ETag, now)
	var limit *limitError
	switch {
	case err == nil:
		have = kept{ETag: etag, Releases: all}
	case errors.Is(err, errNotModified):
		err = nil
	case errors.Is(err, errMissing):
		have = kept{Missing: true}
	case ctx.Err() != nil:
		return have, ctx.Err()
	case !errors.As(err, &limit):
		r.opt.Log.Debug("the releases of a repository cannot be read", "repository", repository.URL(), "error", err)
		r.block(repository.Host, now.Add(retryAfter), err)
		return have, err
	}
	if !until.IsZero() {
		r.block(repository.Host, until, &limitError{until: until})
	}
	if limit == nil {
		have.At = now
		r.put(ctx, repository, have)
	}
	return have, err
}

func (r *Reader) put(ctx context.Context, repository Repository, k kept) {
	body, err := json.Marshal(k)
	if err != nil {
		panic("notes: encode what is kept: " + err.Error()) // plain data; cannot fail
	}
	r.opt.Cache.Put(ctx, keyOf(repository), k.ETag, body)
}

// maxBlocked bounds how many hosts are remembered as blocked.
const maxBlocked = 100

func (r *Reader) block(host string, until time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.blocked) >= maxBlocked {
		clear(r.blocked)
	}
	r.blocked[host] = blocked{until: until, err: err}
}

func (r *Reader) blockedBy(host string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b, found := r.blocked[host]; found && r.opt.Now().Before(b.until) {
		return b.err
	}
	return nil
}
