package containers

import (
	"net/http"
	"slices"
)

// showRows responds with the summary of the list and those of the rows named
// by c that are in it: what a page loads after an event.
func (h *Handler) showRows(w http.ResponseWriter, r *http.Request) {
	wanted := r.URL.Query()["c"]
	v := h.list(r)
	for i := range v.Groups {
		v.Groups[i].Rows = slices.DeleteFunc(v.Groups[i].Rows, func(r Row) bool { return !slices.Contains(wanted, r.Key) })
	}
	h.write(r, &v)
	h.Fragment(w, r, "containers", "rows", v)
}
