package page

import (
	"net/url"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Size is how many rows a page of a list has.
const Size = 50

// List is one page of a list, the newest first, and the addresses of the others.
type List struct {
	// Path is that of the list.
	Path string
	// Filter is the query that selects what is listed, Older that of the page after this one; each may be "".
	Filter, Older string
	// Newest is whether this is another page than the first.
	Newest bool
	// Wrong says what of the address is not understood.
	Wrong []phrase.Phrase
}

// ListOf returns the rows of one page, of which one more than fits was looked for. The page starts at the row before,
// if that is not ""; id returns the id of a row, and query the query of the page that starts at one.
func ListOf[T any](path string, found []T, before string, id func(T) string, query func(before string) string) (
	[]T, List,
) {
	l := List{Path: path, Filter: query(""), Newest: before != ""}
	if len(found) > Size {
		found = found[:Size]
		l.Older = query(id(found[Size-1]))
	}
	return found, l
}

// Query writes those parameters of an address that are not empty: "?state=failed"; "" where all are.
func Query(parameters map[string]string) string {
	v := url.Values{}
	for name, value := range parameters {
		if value != "" {
			v.Set(name, value)
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}
