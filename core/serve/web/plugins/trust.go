package plugins

import (
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

func (h *Handler) trust(w http.ResponseWriter, r *http.Request) {
	if !h.Form(w, r) {
		return
	}
	b, err := h.service.TrustPlugin(r.Context(), h.ActorOf(r), r.PathValue("name"), r.PostFormValue("sha256"))
	switch {
	case err == nil:
		h.done(w, r, "trusted", b.Name)
	case errors.Is(err, service.ErrForbidden):
		h.RenderError(w, r, http.StatusForbidden, page.Problem{
			Title: "This is for people who are logged in", Detail: "A token cannot say which plugins are trusted.",
			Back: "To the plugins", BackTo: "/plugins",
		})
	case errors.Is(err, service.ErrNotFound):
		h.fail(w, r, "trust the plugin", err)
	default:
		h.RenderError(w, r, http.StatusConflict, page.Problem{
			Title: "The plugin cannot be trusted", Detail: err.Error(), Back: "To the plugins", BackTo: "/plugins",
		})
	}
}
