package registrysim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/internal/backoff"
)

// Kind is the kind of a request.
type Kind int

// The kinds of requests.
const (
	Any Kind = iota // for Inject: each of the others
	TokenRequest
	TagsRequest
	HeadRequest
	ManifestRequest
	BlobRequest
	OtherRequest
)

// target is what a request is for.
type target struct {
	kind Kind
	repo string
	// reference is a tag or digest.
	reference string
}

func parse(r *http.Request) target {
	if r.URL.Path == "/token" {
		return target{kind: TokenRequest}
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/v2/")
	if !ok {
		return target{kind: OtherRequest}
	}
	if repo, found := strings.CutSuffix(path, "/tags/list"); found {
		return target{kind: TagsRequest, repo: repo}
	}
	if i := strings.LastIndex(path, "/manifests/"); i > 0 {
		kind := ManifestRequest
		if r.Method == http.MethodHead {
			kind = HeadRequest
		}
		return target{kind: kind, repo: path[:i], reference: path[i+len("/manifests/"):]}
	}
	if i := strings.LastIndex(path, "/blobs/"); i > 0 {
		return target{kind: BlobRequest, repo: path[:i], reference: path[i+len("/blobs/"):]}
	}
	return target{kind: OtherRequest}
}

// ServeHTTP responds to one request.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a := parse(req)
	counted := &counter{ResponseWriter: w}
	fail := r.begin(a.kind)
	defer r.end(counted)
	if r.options.Latency > 0 && backoff.Wait(req.Context(), r.options.Latency) != nil {
		return
	}
	if fail != nil {
		fail(counted, req)
		return
	}
	r.respond(counted, req, a)
}

// counter remembers the status of a response.
type counter struct {
	http.ResponseWriter
	status int
}

func (c *counter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the real writer.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (r *Registry) begin(kind Kind) http.HandlerFunc {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight++
	c := &r.counts
	c.Total++
	c.MaxInFlight = max(c.MaxInFlight, r.inFlight)
	switch kind {
	case TokenRequest:
		c.Tokens++
	case TagsRequest:
		c.Tags++
	case HeadRequest:
		c.Heads++
	case ManifestRequest:
		c.Manifests++
	case BlobRequest:
		c.Blobs++
	}
	return r.fault(kind)
}

func (r *Registry) end(c *counter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight--
	switch c.status {
	case http.StatusUnauthorized:
		r.counts.Refused++
	case http.StatusNotModified:
		r.counts.NotModified++
	}
}

func (r *Registry) respond(w http.ResponseWriter, req *http.Request, a target) {
	if a.kind == TokenRequest {
		r.giveToken(w, req)
		return
	}
	if !r.admit(w, req, a.repo) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	repo, known := r.repos[a.repo]
	switch {
	case a.kind == OtherRequest && req.URL.Path == "/v2/":
		writeJSON(w, http.StatusOK, struct{}{})
	case a.kind == OtherRequest:
		refuse(w, http.StatusNotFound, "UNSUPPORTED", "there is nothing here")
	case !known:
		refuse(w, http.StatusNotFound, "NAME_UNKNOWN", "repository name not known to registry")
	case a.kind == TagsRequest:
		r.listTags(w, req, a.repo, repo)
	default:
		r.document(w, req, a, repo)
	}
}

func (r *Registry) listTags(w http.ResponseWriter, req *http.Request, name string, repo *repository) {
	if r.options.ETags {
		tag := fmt.Sprintf(`"%s-%d"`, name, repo.changes)
		w.Header().Set("ETag", tag)
		if req.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	query := req.URL.Query()
	size := r.options.PageSize
	if n, err := strconv.Atoi(query.Get("n")); err == nil && n > 0 {
		size = min(size, n)
	}
	tags := repo.list()
	if last := query.Get("last"); last != "" {
		i, found := slices.BinarySearch(tags, last)
		if found {
			i++
		}
		tags = tags[i:]
	}
	if len(tags) > size {
		tags = tags[:size]
		next := url.Values{"n": {strconv.Itoa(size)}, "last": {tags[size-1]}}
		w.Header().Set("Link", fmt.Sprintf(`</v2/%s/tags/list?%s>; rel="next"`, name, next.Encode()))
	}
	writeJSON(w, http.StatusOK, map[string]any{"name": name, "tags": tags})
}

// document serves a manifest, an index or a blob.
func (r *Registry) document(w http.ResponseWriter, req *http.Request, a target, repo *repository) {
	digest := a.reference
	if revision, isTag := repo.tags[a.reference]; isTag && a.kind != BlobRequest {
		digest = r.publish(a.repo, revision).index
	}
	part, known := r.parts[digest]
	if !known || part.repo != a.repo {
		refuse(w, http.StatusNotFound, "MANIFEST_UNKNOWN", "manifest unknown")
		return
	}
	d := r.build(part.repo, part.revision).documents[digest]
	h := w.Header()
	h.Set("Content-Type", d.mediaType)
	h.Set("Docker-Content-Digest", digest)
	h.Set("Content-Length", strconv.Itoa(len(d.body)))
	h.Set("ETag", `"`+digest+`"`)
	w.WriteHeader(http.StatusOK)
	if req.Method != http.MethodHead {
		_, _ = w.Write(d.body) // the client may have gone
	}
}

// refuse responds with an error in the form of the distribution specification.
func refuse(w http.ResponseWriter, status int, code, message string) {
	type problem struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	writeJSON(w, status, map[string][]problem{"errors": {{code, message}}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}
