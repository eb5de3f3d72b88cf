package notes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
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
	// Known returns the address of the repository with the notes of an image, where more is known of it than its
	// labels say; "" for others. It may be nil.
	Known func(c *sdk.Container) string
	// Tokens log in to hosts, by name.
	Tokens map[string]string
	Cache  Cache
	// Agent is how the reader names itself to hosts: "dogwatch/1.2.3".
	Agent string
	// Transport connects in tests; nil for one that refuses addresses inside the network.
	Transport *http.Transport
	// Resolver finds the addresses of hosts in tests; nil for that of the system.
	Resolver *net.Resolver
	Log      hclog.Logger
	Now      func() time.Time
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
	return &Reader{
		opt: opt, client: newClient(&guard{allowed: allowed, resolver: opt.Resolver}, opt.Transport),
		fetching: make(chan struct{}, 1), blocked: map[string]blocked{},
	}
}

// Enabled returns true.
func (r *Reader) Enabled() bool { return true }

// Of returns the notes of what a container is offered. Repositories are asked where the
// cache is too old; what cannot be read is said in Reason.
func (r *Reader) Of(ctx context.Context, c *sdk.Container) Notes {
	n, repository := r.about(c)
	if n.Repository == "" {
		return n
	}
	kept, err := r.releases(ctx, repository, func(all []release) bool { return n.reaches(all, names(repository, c)) })
	n.FetchedAt = sdk.Time{Time: kept.At}
	if err != nil {
		n.Reason = fmt.Sprintf("the releases of %s cannot be read: %v", n.Repository, err)
		if len(kept.Releases) > 0 {
			n.Reason += "; these are of " + kept.At.UTC().Format("2 Jan 15:04 UTC")
		}
	}
	n.choose(kept.Releases, repository, names(repository, c))
	switch {
	case n.Reason != "" || len(n.Notes) > 0:
	case len(kept.Releases) == 0:
		n.Reason = "the repository has tags at most, and no releases"
	case n.Running == "" && n.Offered == "":
		n.Reason = "no release notes: neither the tag nor a label of the image says which version this is"
	default:
		n.Reason = "no release is between the version that runs and the one that is offered"
	}
	return n
}

// Known returns the notes of what a container is offered as far as the cache has them, however old they are. Nobody is
// asked.
func (r *Reader) Known(ctx context.Context, c *sdk.Container) Notes {
	n, repository := r.about(c)
	if n.Repository == "" {
		return n
	}
	if kept, found := r.cached(ctx, repository); found {
		n.FetchedAt = sdk.Time{Time: kept.At}
		n.choose(kept.Releases, repository, names(repository, c))
	}
	return n
}

// about returns notes that name the versions of the update of a container and the repository, or the reason why there
// is none.
func (r *Reader) about(c *sdk.Container) (n Notes, repository Repository) {
	n.Notes = []Note{}
	if !c.UpdateAvailable || c.Result == nil {
		n.Reason = "there is no update"
		return n, repository
	}
	n.Running, n.Offered = running(c), offered(c)
	known := ""
	if r.opt.Known != nil {
		known = r.opt.Known(c)
	}
	repository, by, found := Find(c, known, r.opt.Forges)
	if !found {
		n.Reason = "no release notes found: no label of the image, such as org.opencontainers.image.source, leads to GitHub, GitLab, Gitea or Forgejo, nor does a link template"
		return n, repository
	}
	n.Repository, n.FoundBy = repository.URL(), by
	return n, repository
}

// kept are the releases of a repository as the cache has them.
type kept struct {
	ETag     string    `json:"-"`
	At       time.Time `json:"at"`
	Missing  bool      `json:"missing,omitempty"`
	Releases []release `json:"releases"`
	// Pages is how many pages of the list of the host Releases are, and More whether there are others.
	Pages int  `json:"pages"`
	More  bool `json:"more,omitempty"`
}

// room returns how many bytes of text can be added.
func (k *kept) room() int {
	room := maxTotal
	for i := range k.Releases {
		room -= k.Releases[i].size()
	}
	return room
}

// add adds a page. Between two requests releases move from one page to the next.
func (k *kept) add(p page) {
	for _, one := range p.releases {
		if len(k.Releases) < maxReleases &&
			!slices.ContainsFunc(k.Releases, func(have release) bool { return have.Tag == one.Tag }) {
			k.Releases = append(k.Releases, one)
		}
	}
	k.Pages++
	k.More = p.more && len(p.releases) > 0
}

// lacks reports whether there are pages that are needed and not kept.
func (k *kept) lacks(enough func([]release) bool) bool {
	return k.More && k.Pages < maxPages && len(k.Releases) < maxReleases && !enough(k.Releases)
}

// keyPrefix begins the keys of the cache, with the version of what is kept.
const keyPrefix = "notes/2/"

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

// releases returns the releases of a repository, as many of the newest as are enough. With an
// error they may be older ones, or too few.
func (r *Reader) releases(ctx context.Context, repository Repository, enough func([]release) bool) (kept, error) {
	have, found := r.cached(ctx, repository)
	if found {
		if fit, err := r.fit(have); fit && !have.lacks(enough) {
			return have, err
		}
	}
	select {
	case r.fetching <- struct{}{}:
		defer func() { <-r.fetching }()
	case <-ctx.Done():
		return have, ctx.Err()
	}
	fit := false
	if have, found = r.cached(ctx, repository); found { // another reader may have fetched them
		var err error
		if fit, err = r.fit(have); fit && !have.lacks(enough) {
			return have, err
		}
	}
	if !fit {
		now := r.opt.Now()
		p, err := r.page(ctx, repository, 1, maxTotal, have.ETag)
		switch {
		case err == nil:
			have = kept{ETag: p.etag}
			have.add(p)
		case errors.Is(err, errMissing):
			have = kept{At: now, Missing: true}
			r.put(ctx, repository, have)
			return have, err
		case !errors.Is(err, errNotModified):
			return have, err
		}
		have.At = now
		r.put(ctx, repository, have)
	}
	for have.lacks(enough) {
		p, err := r.page(ctx, repository, have.Pages+1, have.room(), "")
		if err != nil {
			return have, err
		}
		have.add(p)
		r.put(ctx, repository, have)
	}
	return have, nil
}

// page asks the host of a repository for a page of its releases, unless it is to be left alone.
// The errors are those of fetch.
func (r *Reader) page(ctx context.Context, repository Repository, number, room int, validator string) (page, error) {
	if err := r.blockedBy(repository.Host); err != nil {
		return page{}, err
	}
	now := r.opt.Now()
	p, err := r.fetch(ctx, repository, number, room, validator, now)
	var limit *limitError
	switch {
	case err == nil, errors.Is(err, errNotModified), errors.Is(err, errMissing), errors.As(err, &limit):
	case errors.Is(ctx.Err(), context.Canceled): // the reader has gone
		return p, ctx.Err()
	default:
		r.opt.Log.Debug("the releases of a repository cannot be read", "repository", repository.URL(), "error", err)
		r.block(repository.Host, now.Add(retryAfter), err)
	}
	if !p.until.IsZero() {
		r.block(repository.Host, p.until, &limitError{until: p.until})
	}
	return p, err
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
