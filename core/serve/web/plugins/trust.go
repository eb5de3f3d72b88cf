package plugins

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

func (h *Handler) trust(w http.ResponseWriter, r *http.Request) {
	_, err := h.service.TrustPlugin(r.Context(), h.ActorOf(r), r.PathValue("name"), r.PostFormValue("sha256"))
	h.done(w, r, "trusted", err,
		page.Failure{Err: service.ErrForbidden, Problem: page.Problem{
			Title: phrase.New("This is for people who are logged in"), Detail: phrase.New("A token cannot say which plugins are trusted."),
		}},
		page.Failure{Problem: page.Problem{Title: phrase.New("The plugin cannot be trusted")}})
}
