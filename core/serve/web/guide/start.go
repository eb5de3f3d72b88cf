package guide

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// startPage is the guide as a page.
type startPage struct {
	Guide *Guide
	// Failed is how many watchers, registries and triggers do not work.
	Failed int
}

func (h *Handler) start(w http.ResponseWriter, r *http.Request) {
	g, err := h.Guide(r.Context(), h.ActorOf(r))
	if err != nil {
		h.InternalError(w, r, "read the last checks", err)
		return
	}
	p := startPage{Guide: g}
	for _, k := range kind.Kinds() {
		p.Failed += Failed(h.service.Components(h.ActorOf(r), k))
	}
	h.Live(w, r, "start", page.Page{Title: phrase.New("Getting started"), Nav: "overview", Live: page.FollowsAll, Content: p})
}
