package containers

import (
	"net/http"
	"strconv"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// partSize is how many rows of the list a page has until the reader scrolls, or follows a link, to more.
const partSize = 100

// part is a part of the list. Its address counts rows rather than name one, since a row may be gone or have another
// place by then; the script of the page leaves out what it has already.
type part struct {
	From  int // how many rows are before it
	Query string
	Word  phrase.Phrase
}

// part returns the part of a list of some length that has a number of rows before it.
func (q listQuery) part(from, length int) *part {
	return &part{from, q.with("from", strconv.Itoa(from)),
		phrase.New("Show %d to %d of %d", from+1, min(from+partSize, length), length)}
}

// show makes the rows of the part that the query names, of the last one where the list is shorter.
func (v *listView) show() {
	from := max(0, min(v.Query.From, v.Shown-1)) / partSize * partSize
	to := min(from+partSize, v.Shown)
	v.Query.From, v.Groups = from, nil
	v.Here = "/containers" + v.Query.with("", "")
	before := 0
	for _, g := range v.found {
		n := len(g.Entries)
		for _, e := range g.Entries[min(max(from-before, 0), n):min(max(to-before, 0), n)] {
			g.Rows, v.shown = append(g.Rows, v.make.Of(e.rec)), append(v.shown, e.rec)
		}
		g.Continued = before < from
		before += n
		if len(g.Rows) > 0 {
			v.Groups = append(v.Groups, g)
		}
	}
	if from > 0 {
		v.Earlier = v.Query.part(from-partSize, v.Shown)
	}
	if to < v.Shown {
		v.Later = v.Query.part(to, v.Shown)
	}
}

// showPart responds with a further part of the list, for the end of the page that has those before.
func (h *Handler) showPart(w http.ResponseWriter, r *http.Request) {
	v := h.list(r)
	h.write(r, &v)
	h.Fragment(w, r, "containers", "part", v)
}
