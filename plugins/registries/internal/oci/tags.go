package oci

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const (
	pageSize = 1000
	// leastPageSize is how many tags all registries should return at a time (distribution
	// specification, "Listing Tags"): those that limit a page do so to no less.
	leastPageSize = 100
	maxPages      = 1000
	// maxTags is as many as the host takes of a plugin, see "Bounds" in docs/plugins-writing.md. A tag has at
	// most 128 bytes.
	maxTags = 100_000
	// maxPageBody leaves room for Google's registries, which list every image beside the tags.
	maxPageBody = 16 << 20
	// maxPageQuery bounds what must be remembered of each page to see a circle.
	maxPageQuery = 4 << 10
	// maxEmptyPages is how many pages in a row may be empty before the list counts as endless.
	maxEmptyPages = 3
)

// Tags implements registry.Registry. The validator is the entity tag of a list
// that came in one page: that of a first page says nothing about the others.
func (r *Registry) Tags(ctx context.Context, repo registry.Repository, validator string) (registry.TagList, error) {
	list, err := r.tags(ctx, repo, validator)
	if err != nil {
		return registry.TagList{}, r.wrap("list tags of "+repo.Name, repo, err)
	}
	return list, nil
}

func (r *Registry) tags(ctx context.Context, repo registry.Repository, validator string) (registry.TagList, error) {
	req := request{repo: repo, method: http.MethodGet, path: "tags/list", query: "n=" + strconv.Itoa(pageSize),
		accept: "application/json", validator: validator}
	l := tagLister{requested: map[string]bool{}}
	for {
		l.requested[req.query] = true
		err := r.do(ctx, req, func(resp *http.Response) error { return l.read(resp, validator) })
		switch {
		case l.asked && isRefused(err):
			return l.end(), nil
		case err != nil:
			return l.TagList, err
		}
		if req.query, err = l.next(); err != nil || req.query == "" {
			return l.TagList, err
		}
		req.validator = ""
	}
}

// isRefused reports whether a registry has nothing where it was asked for what follows a tag, or
// does not understand that.
func isRefused(err error) bool {
	status := statusOf(err)
	return status == http.StatusNotFound || status == http.StatusBadRequest
}

// readTags appends the tags of one page to tags, without holding the page.
func readTags(resp *http.Response, tags []string) (page, error) {
	httpclient.LimitBody(resp, maxPageBody)
	p := page{Decoder: json.NewDecoder(resp.Body), tags: tags}
	err := p.read()
	if err == nil {
		return p, nil
	}
	if isWebPage(resp) {
		err = webPage(resp)
	}
	return page{}, err
}

// page reads {"name": …, "tags": […]}.
type page struct {
	*json.Decoder
	tags []string
	// names is how many names the page has, with those that are no tags; last is the last of them.
	names int
	last  string
}

func (p *page) read() error {
	found := false
	if err := p.open('{'); err != nil {
		return err
	}
	for p.More() {
		key, err := p.Token()
		if err != nil {
			return p.readError(err)
		}
		if key != "tags" {
			if err := p.skip(); err != nil {
				return err
			}
			continue
		}
		found = true
		if err := p.list(); err != nil {
			return err
		}
	}
	if _, err := p.Token(); err != nil {
		return p.readError(err)
	}
	if !found {
		return protocolError("answered without a list of tags")
	}
	return nil
}

// list reads the array of tags; null is an empty one, as some registries write it.
func (p *page) list() error {
	start, err := p.Token()
	switch {
	case err != nil:
		return p.readError(err)
	case start == nil:
		return nil
	case start != json.Delim('['):
		return protocolError("answered a list of tags that is none")
	}
	for p.More() {
		t, err := p.Token()
		if err != nil {
			return p.readError(err)
		}
		tag, isText := t.(string)
		if !isText {
			return protocolError("answered a list of tags with something else in it")
		}
		if strings.ContainsFunc(tag, unicode.IsControl) {
			return protocolError("answered tags with control characters: %.40q", tag)
		}
		p.names, p.last = p.names+1, tag
		// What is no tag to an engine cannot be run; some registries list such names.
		if reference.IsTag(tag) {
			p.tags = append(p.tags, tag)
		}
		if len(p.tags) > maxTags {
			return protocolError("has more than %d tags", maxTags)
		}
	}
	if _, err := p.Token(); err != nil {
		return p.readError(err)
	}
	return nil
}

// skip reads over one value.
func (p *page) skip() error {
	for depth := 0; ; {
		t, err := p.Token()
		if err != nil {
			return p.readError(err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

func (p *page) open(delim json.Delim) error {
	t, err := p.Token()
	if err != nil {
		return p.readError(err)
	}
	if t != delim {
		return protocolError("answered something else than a list of tags")
	}
	return nil
}

// readError explains why a page could not be read to its end.
func (p *page) readError(err error) error { return readError(err, "a list of tags", p.InputOffset()) }
