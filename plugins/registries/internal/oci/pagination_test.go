package oci

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// unlinked is a registry that pages without links, and what it was asked.
type unlinked struct {
	names     []string
	size      int // of a page, however many are asked for
	inclusive bool
	ignores   bool                      // the name after which to go on
	refuses   int                       // that name, with a status
	respond   func(http.ResponseWriter) // to a request with that name, where set
	requests  []string
}

func (u *unlinked) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	u.requests = append(u.requests, req.URL.RawQuery)
	query := req.URL.Query()
	from, last := 0, query.Get("last")
	switch {
	case last == "" || u.ignores:
	case u.respond != nil:
		u.respond(w)
		return
	case u.refuses > 0:
		w.WriteHeader(u.refuses)
		return
	default:
		if from = slices.Index(u.names, last); !u.inclusive {
			from++
		}
	}
	size, _ := strconv.Atoi(query.Get("n"))
	if u.size > 0 {
		size = u.size
	}
	w.Header().Set("ETag", `"page"`)
	_ = json.NewEncoder(w).Encode(map[string]any{"tags": u.names[from:min(from+size, len(u.names))]})
}

func countedNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("1.0.%04d", i)
	}
	return names
}

// A full page without a link is not the end of a list for that.
func TestTagsAfterFullPageWithoutLink(t *testing.T) {
	oddities := countedNames(1000)
	oddities[999] = "dir/&last=x"
	for name, test := range map[string]struct {
		registry  unlinked
		tags      int
		requests  int
		validator bool
	}{
		"more":                       {unlinked{names: countedNames(2500)}, 2500, 3, false},
		"exactly two pages":          {unlinked{names: countedNames(2000)}, 2000, 3, false},
		"exactly one page":           {unlinked{names: countedNames(1000)}, 1000, 2, false},
		"one name less":              {unlinked{names: countedNames(999)}, 999, 1, true},
		"more than asked for":        {unlinked{names: countedNames(1500), size: 1500}, 1500, 1, true},
		"pages of a hundred":         {unlinked{names: countedNames(350), size: 100}, 350, 4, false},
		"exactly a hundred":          {unlinked{names: countedNames(100)}, 100, 2, false},
		"two hundred":                {unlinked{names: countedNames(200)}, 200, 1, true},
		"the last name again":        {unlinked{names: countedNames(1500), inclusive: true}, 1500, 2, false},
		"only the last name again":   {unlinked{names: countedNames(1000), inclusive: true}, 1000, 2, false},
		"the same names again":       {unlinked{names: countedNames(2500), ignores: true}, 1000, 2, true},
		"nothing is not found":       {unlinked{names: countedNames(1000), refuses: 404}, 1000, 2, true},
		"the question is refused":    {unlinked{names: countedNames(1000), refuses: 400}, 1000, 2, true},
		"a last name that is no tag": {unlinked{names: append(oddities, "1.1", "1.2")}, 1001, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(internet{simHost: &test.registry})
			list, err := r.Tags(t.Context(), app(), "")
			if err != nil || len(list.Tags) != test.tags || (list.Validator != "") != test.validator {
				t.Errorf("%d tags, validator %q, %v; want %d", len(list.Tags), list.Validator, err, test.tags)
			}
			if got := test.registry.requests; len(got) != test.requests || got[0] != "n=1000" {
				t.Errorf("requests %q, want %d", got, test.requests)
			}
			slices.Sort(list.Tags)
			if len(slices.Compact(list.Tags)) != test.tags {
				t.Error("tags are listed twice")
			}
		})
	}
}

// What is not there to be read is no end of the list.
func TestTagsFailWhereNextPageFails(t *testing.T) {
	for name, respond := range map[string]func(http.ResponseWriter){
		"broken off": func(w http.ResponseWriter) { fmt.Fprint(w, `{"tags":["2`) },
		"a failure":  func(w http.ResponseWriter) { w.WriteHeader(500) },
	} {
		r := newRegistry(internet{simHost: &unlinked{names: countedNames(1000), respond: respond}})
		list, err := r.Tags(t.Context(), app(), "")
		checkKind(t, err, sdk.ErrUnavailable)
		if len(list.Tags) > 0 {
			t.Errorf("%s: %d tags", name, len(list.Tags))
		}
	}
}

// A registry that links its pages has no more than it links.
func TestTagsOfLinkedPagesEndWithoutLink(t *testing.T) {
	requests := 0
	r := newRegistry(internet{simHost: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if requests++; requests == 1 {
			w.Header().Set("Link", `</v2/team/app/tags/list?n=1000&last=1.0.0999>; rel="next"`)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"tags": countedNames(requests * 1000)[(requests-1)*1000:]})
	})})
	if tags := mustTags(t, r, app()); len(tags) != 2000 || requests != 2 {
		t.Errorf("%d tags by %d requests", len(tags), requests)
	}
}

// A registry that answers something else each time is not asked for ever.
func TestTagsRejectEndlessFullPages(t *testing.T) {
	requests := 0
	r := newRegistry(internet{simHost: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		requests++
		names := countedNames(leastPageSize)
		for i := range names {
			names[i] = fmt.Sprintf("%d.%s", requests, names[i])
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"tags": names})
	})})
	_, err := r.Tags(t.Context(), app(), "")
	checkKind(t, err, sdk.ErrUnavailable)
	if requests != maxPages {
		t.Errorf("%d requests", requests)
	}
}
