package guide

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// startPage is the guide as a page.
type startPage struct{ Guide *Guide }

func (h *Handler) start(w http.ResponseWriter, r *http.Request) {
	g, err := h.Guide(r.Context(), h.ActorOf(r))
	if err != nil {
		h.InternalError(w, r, "read the last checks", err)
		return
	}
	h.Live(w, r, "start", page.Page{Title: phrase.New("Getting started"), Nav: "overview", Live: page.FollowsAll, Content: startPage{g}})
}
