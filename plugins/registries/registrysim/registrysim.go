// Package registrysim is a registry that exists only in memory. It serves
// repositories of multi-platform images over the distribution protocol, hands
// out tokens, counts requests, and misbehaves on demand. Tests, the
// benchmark and the demo use it; its images have everything but real layers.
//
// The same calls always give the same images, byte for byte.
package registrysim

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// Auth is the authentication that a registry demands.
type Auth int

// The kinds of Auth.
const (
	Open  Auth = iota // none
	Basic             // user and password with each request
	Token             // a token from the registry's own token service
)

// Scopes is what the token service makes of a request for several scopes.
type Scopes int

// The kinds of Scopes.
const (
	AllScopes   Scopes = iota // one token for all of them, as the protocol says
	FirstScope                // the others are ignored
	OneScope                  // the request is refused
	EveryTarget               // any token serves every public repository
)

// Options say how a registry behaves. The zero value is an open registry that
// responds at once.
type Options struct {
	Auth Auth
	// Users are the accounts: user name to password.
	Users map[string]string
	// Private reports which repositories only users may read; nil means none.
	Private func(repo string) bool
	// Service is the name of the token service; "sim" when empty.
	Service string
	// Realm is the address of the token service; "" means the registry itself.
	Realm  string
	Scopes Scopes
	// TokenLife is 5 minutes when 0.
	TokenLife time.Duration
	// ETags makes lists of tags conditional.
	ETags bool
	// PageSize bounds a page of tags; 1000 when 0.
	PageSize int
	// Latency is added to each response.
	Latency time.Duration
	// Created is when the image of a revision was made, of which every tag that is
	// pushed is the next one; always the same for the same. An hour after the one
	// before, from the beginning of 2026, when nil.
	Created func(revision int) time.Time
	// Config is what the configuration of an image says under "config"; nothing when nil.
	Config func(repo string, revision int) map[string]any
	// Size is how large the own layer of an image says it is, in bytes; that which it has in
	// common with others is twice as large. What they really are when nil.
	Size func(repo string, revision int) int64
	// Platforms are those of every image; amd64, arm64 and arm/v7 when empty.
	Platforms []sdk.Platform
}

// Registry is a simulated registry. It is an http.Handler and safe for
// concurrent use.
type Registry struct {
	options Options

	mu       sync.Mutex
	repos    map[string]*repository
	parts    map[string]part // by digest, once a client got it
	tokens   map[string]tokenScope
	revision int
	charts   map[int]bool // revisions that are no images
	counts   Counts
	inFlight int
	faults   []*fault
}

type repository struct {
	tags    map[string]int // revision of the image behind each
	sorted  []string       // nil when it must be made
	changes int
}

// New returns a registry without repositories.
func New(o Options) *Registry {
	o.Service = cmp.Or(o.Service, "sim")
	if o.TokenLife == 0 {
		o.TokenLife = 5 * time.Minute
	}
	o.PageSize = cmp.Or(o.PageSize, 1000)
	if o.Created == nil {
		o.Created = func(revision int) time.Time { return firstRevision.Add(time.Duration(revision) * time.Hour) }
	}
	if o.Config == nil {
		o.Config = func(string, int) map[string]any { return map[string]any{} }
	}
	if len(o.Platforms) == 0 {
		o.Platforms = []sdk.Platform{
			{OS: "linux", Architecture: "amd64"},
			{OS: "linux", Architecture: "arm64", Variant: "v8"},
			{OS: "linux", Architecture: "arm", Variant: "v7"},
		}
	}
	return &Registry{
		options: o, repos: map[string]*repository{}, parts: map[string]part{}, charts: map[int]bool{},
		tokens: map[string]tokenScope{},
	}
}

// Push puts a new image behind each of the tags, which may exist.
func (r *Registry) Push(repo string, tags ...string) { r.push(repo, false, tags) }

// PushChart puts a Helm chart behind each of the tags, which may exist.
func (r *Registry) PushChart(repo string, tags ...string) { r.push(repo, true, tags) }

func (r *Registry) push(repo string, chart bool, tags []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, known := r.repos[repo]
	if !known {
		p = &repository{tags: map[string]int{}}
		r.repos[repo] = p
	}
	for _, tag := range tags {
		r.revision++
		p.tags[tag] = r.revision
		if chart {
			r.charts[r.revision] = true
		}
	}
	p.changes++
	p.sorted = nil
}

// Tag puts the image behind a tag, which exists, behind others, too.
func (r *Registry) Tag(repo, tag string, others ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.repos[repo]
	for _, other := range others {
		p.tags[other] = p.tags[tag]
	}
	p.changes++
	p.sorted = nil
}

// Delete removes tags of a repository.
func (r *Registry) Delete(repo string, tags ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, known := r.repos[repo]
	if !known {
		return
	}
	for _, tag := range tags {
		delete(p.tags, tag)
	}
	p.changes++
	p.sorted = nil
}

// list returns the tags of a repository in the order of a registry. The caller holds the lock.
func (p *repository) list() []string {
	if p.sorted == nil {
		p.sorted = make([]string, 0, len(p.tags))
		for tag := range p.tags {
			p.sorted = append(p.sorted, tag)
		}
		slices.Sort(p.sorted)
	}
	return p.sorted
}

// Image returns the image behind a tag; ok is false when there is none.
func (r *Registry) Image(repo, tag string) (image Image, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, known := r.repos[repo]
	if !known {
		return Image{}, false
	}
	revision, known := p.tags[tag]
	if !known {
		return Image{}, false
	}
	return r.publish(repo, revision).image(), true
}

// Pinned returns the image of a repository with the digest of its index; ok is false when there is none.
func (r *Registry) Pinned(repo, digest string) (image Image, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	part, known := r.parts[digest]
	if !known || part.repo != repo {
		return Image{}, false
	}
	c := r.build(repo, part.revision)
	return c.image(), c.index == digest
}

// ExpireTokens makes the registry refuse every token it has given out.
func (r *Registry) ExpireTokens() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.tokens)
}

// Counts are the requests that a registry got.
type Counts struct {
	// Total counts all, those of the kinds below and any other.
	Total int
	// Tokens, Tags, Heads, Manifests and Blobs count requests, whatever the response.
	Tokens, Tags, Heads, Manifests, Blobs int
	// Refused counts responses of 401, NotModified those of 304.
	Refused, NotModified int
	// MaxInFlight is how many requests were in flight at once.
	MaxInFlight int
}

// Counts returns the requests since the start or the last ResetCounts.
func (r *Registry) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// ResetCounts starts counting anew.
func (r *Registry) ResetCounts() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts = Counts{}
}

// Server is a registry that listens.
type Server struct {
	// URL is its address, without "/v2"; Host is the host and port in it.
	URL, Host string

	http   *http.Server
	served chan error
}

// Start serves the registry on a free port of this machine. The caller closes the server.
func (r *Registry) Start() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a simulated registry: %w", err)
	}
	host := l.Addr().String()
	s := &Server{
		URL: "http://" + host, Host: host, http: &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second},
		served: make(chan error, 1),
	}
	go func() { s.served <- s.http.Serve(l) }()
	return s, nil
}

// Close stops the server, breaking off the responses in flight.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.served
	return err
}
