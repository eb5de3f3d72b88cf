package containers

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// redirectID leads from the id of the engine, which changes when a container
// is recreated, to the page that stays.
func (h *Handler) redirectID(w http.ResponseWriter, r *http.Request) {
	to := h.find.PathOf(r.Context(), h.ActorOf(r), r.PathValue("id"))
	if to == "" {
		h.RenderError(w, r, http.StatusNotFound, page.Problem{
			Title: phrase.New("This container is gone"), Detail: phrase.New("It was removed since, or never known."), Back: phrase.New("Go to Containers"),
			BackTo: "/containers",
		})
		return
	}
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery // the tab
	}
	http.Redirect(w, r, h.Path(to), http.StatusFound)
}
