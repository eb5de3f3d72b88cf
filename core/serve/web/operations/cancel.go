package operations

import (
	"errors"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/update/updater"
)

// cancel has an operation stop, whose page then says so.
func (h *Handler) cancel(w http.ResponseWriter, r *http.Request) {
	id := strings.ToLower(r.PathValue("id"))
	err := h.service.CancelOperation(r.Context(), h.ActorOf(r), id)
	switch {
	case err == nil:
		http.Redirect(w, r, h.Path(page.OperationPath(id)), http.StatusSeeOther)
	case errors.Is(err, service.ErrNotFound):
		h.missing(w, r)
	case errors.Is(err, updater.ErrEnded): // its page says how
		http.Redirect(w, r, h.Path(page.OperationPath(id)), http.StatusSeeOther)
	default:
		h.RenderNotBegun(w, r, phrase.New("It could not be cancelled"), err, phrase.New("Go to the operation"), page.OperationPath(id))
	}
}
