package oci

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/registry"
)

// tagLister puts the pages of a list of tags together, and knows where the list ends: at a page
// without a link to the next one, by the distribution specification ("Listing Tags"). There are
// registries that link none. There a full page may not be the last one, and what follows its last
// name is asked for. Those that ignore that return the same names again.
type tagLister struct {
	registry.TagList
	requested map[string]bool // the queries
	got       page            // the last response, with the tags of all before
	link      string          // of the last response to the next page
	validator string          // of the first page

	pages, empty int  // how many were read, and how many of these had no tags, in a row
	full         int  // names of a full page, where the first one is
	start        int  // where the tags of the page before begin
	linked       bool // a page had a link
	asked        bool // the last page was asked for by a name
}

// read reads a response. A retry reads the page again.
func (l *tagLister) read(resp *http.Response, validator string) (err error) {
	if resp.StatusCode == http.StatusNotModified {
		l.NotModified, l.Validator = true, validator
		return nil
	}
	if l.got, err = readTags(resp, l.Tags); err != nil {
		return err
	}
	l.link = nextPage(resp.Header.Values("Link"))
	if l.pages == 0 {
		l.validator = entityTag(resp.Header)
	}
	return nil
}

// next takes what was read, and returns the query of the next page; "" at the end of the list.
func (l *tagLister) next() (query string, err error) {
	if l.NotModified {
		return "", nil
	}
	before := len(l.Tags)
	if l.asked {
		l.got.tags = l.got.tags[:before+len(l.unknown(l.got.tags[before:]))]
	}
	l.start, l.Tags = before, l.got.tags
	if l.empty++; len(l.Tags) > before {
		l.empty = 0
	}
	if l.pages++; l.pages == 1 && (l.got.names == pageSize || l.got.names == leastPageSize) {
		l.full = l.got.names
	}
	switch {
	case l.link != "":
		l.linked, l.asked = true, false
		return l.link, l.follow()
	case l.linked, l.got.names != l.full:
		l.end()
		return "", nil
	case l.asked && l.empty > 0:
		l.pages-- // it was the same page again
		l.end()
		return "", nil
	}
	l.asked = true
	l.link = url.Values{"n": {strconv.Itoa(pageSize)}, "last": {l.got.last}}.Encode()
	return l.link, l.follow()
}

// end returns the list. What the first page had as a validator says something about it only
// where there is no other page.
func (l *tagLister) end() registry.TagList {
	if l.pages == 1 {
		l.Validator = l.validator
	}
	return l.TagList
}

// unknown moves the tags that the page before has not to the front, and returns these.
func (l *tagLister) unknown(tags []string) []string {
	known := map[string]bool{}
	for _, tag := range l.Tags[l.start:] {
		known[tag] = true
	}
	return slices.DeleteFunc(tags, func(tag string) bool { return known[tag] })
}

// follow refuses links that lead nowhere.
func (l *tagLister) follow() error {
	switch {
	case len(l.link) > maxPageQuery:
		return protocolError("names the next page of its tags in %d bytes", len(l.link))
	case l.requested[l.link]:
		return protocolError("sends us round in circles: page %d of its tags leads back to one already read", l.pages)
	case l.empty > maxEmptyPages:
		return protocolError("sends empty pages of tags without end")
	case l.pages == maxPages:
		return protocolError("has more than %d pages of tags", maxPages)
	}
	return nil
}

// nextPage returns the query of the next page (RFC 8288; distribution
// specification, "Listing Tags"). Nothing else of the link is used: it cannot
// lead to another host or repository, and the wrong host names of registries
// behind proxies do no harm.
func nextPage(links []string) string {
	for _, line := range links {
		for line != "" {
			_, rest, found := strings.Cut(line, "<")
			if !found {
				break
			}
			target, after, found := strings.Cut(rest, ">")
			if !found {
				break
			}
			params, following := untilComma(after)
			line = following
			u, err := url.Parse(target)
			if err == nil && u.RawQuery != "" && isNext(params) {
				return u.RawQuery
			}
		}
	}
	return ""
}

// untilComma cuts at the first comma outside quotes, in which a backslash
// escapes what is behind it (RFC 9110 section 5.6.4).
func untilComma(text string) (before, after string) {
	quoted, escaped := false, false
	for i := range len(text) {
		switch {
		case escaped:
			escaped = false
		case quoted && text[i] == '\\':
			escaped = true
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ',' && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// isNext reports whether the parameters of a link have the relation "next", or none.
func isNext(params string) bool {
	hasRelation := false
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		hasRelation = true
		for relation := range strings.FieldsSeq(strings.Trim(strings.TrimSpace(value), `"`)) {
			if strings.EqualFold(relation, "next") {
				return true
			}
		}
	}
	return !hasRelation
}
