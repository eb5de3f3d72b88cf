package operations

import (
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
)

// start begins the change that the user has confirmed.
func (h *Handler) start(kind operation.Kind) http.HandlerFunc {
	return h.find.Named(func(w http.ResponseWriter, r *http.Request, rec *store.Record) {
		change := changeOf(kind, &rec.Container, r.PostForm)
		op, err := h.service.StartOperation(r.Context(), h.ActorOf(r), change)
		var conflict *updater.ConflictError
		switch {
		case err != nil && h.renderNotOffered(w, r, err, &rec.Container, change):
		case err == nil:
			http.Redirect(w, r, h.Path(page.OperationPath(op.ID)), http.StatusSeeOther)
		case errors.As(err, &conflict):
			http.Redirect(w, r, h.Path(page.OperationPath(conflict.Operation.ID)+"?did=already"), http.StatusSeeOther)
		case errors.Is(err, updater.ErrChanged), errors.Is(err, updater.ErrUnplanned):
			h.renderPlan(w, r, http.StatusConflict, rec, change,
				phrase.New("It has changed since this plan was made, so nothing was done. This is the plan as it is now."))
		case errors.Is(err, updater.ErrBlocked):
			h.renderPlan(w, r, http.StatusConflict, rec, change,
				phrase.New("Nothing was done: something keeps it from being carried out."))
		default:
			h.RenderNotBegun(w, r, phrase.New("%s is as it was", words.Name(&rec.Container)), err, phrase.New("Go to %s", words.Name(&rec.Container)),
				page.PathOf(&rec.Container))
		}
	})
}
