package containers

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
)

// showRows responds with the summary of the list and those of the rows named by c that are in it: what a page loads
// after an event. A page that shows a part of the list names by n what it does not show: the row is in the response
// where it belongs to what is shown, which ends before the row with the number "to".
func (h *Handler) showRows(w http.ResponseWriter, r *http.Request) {
	query, shown := r.URL.Query(), map[string]bool{}
	for _, key := range query["n"] {
		shown[key] = false
	}
	for _, key := range query["c"] {
		shown[key] = true
	}
	to, _ := strconv.Atoi(query.Get("to"))
	to = cmp.Or(to, math.MaxInt)
	v := h.list(r)
	var all group
	i := 0
	for _, g := range v.found {
		for _, e := range g.Entries {
			c := &e.rec.Container
			was, named := shown[c.Watcher+"/"+c.Name]
			if named && (was || i >= v.Query.From && i < to) {
				all.Rows = append(all.Rows, v.make.Of(e.rec))
			}
			i++
		}
	}
	v.Groups = []group{all}
	h.write(r, &v)
	h.Fragment(w, r, "containers", "rows", v)
}
