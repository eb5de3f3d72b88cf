package operations

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// changeOf is what a form, or the address of a plan, asks for.
func changeOf(kind operation.Kind, c *sdk.Container, form url.Values) service.Change {
	change := service.Change{Container: c.ID, Kind: kind, Digest: form.Get("digest"), State: form.Get("state")}
	change.Rules.Acknowledged = form["ack"]
	if kind == operation.Update {
		change.Version = form.Get("version")
	}
	if form.Get("compose") == "edit" {
		change.Rules.Compose = &watcher.ComposeRules{Backup: true}
	}
	return change
}

const (
	noticeChanged = "It has changed since this plan was made, so nothing was done. This is the plan as it is now."
	noticeBlocked = "Nothing was done: something keeps it from being carried out."
)

// start begins the change that the user has confirmed.
func (h *Handler) start(kind operation.Kind) http.HandlerFunc {
	return h.find.Named(func(w http.ResponseWriter, r *http.Request, rec *store.Record) {
		change := changeOf(kind, &rec.Container, r.PostForm)
		op, err := h.service.StartOperation(r.Context(), h.ActorOf(r), change)
		var conflict *updater.ConflictError
		switch {
		case err == nil:
			http.Redirect(w, r, h.Path(page.OperationPath(op.ID)), http.StatusSeeOther)
		case errors.As(err, &conflict):
			http.Redirect(w, r, h.Path(page.OperationPath(conflict.Operation.ID)+"?did=already"), http.StatusSeeOther)
		case errors.Is(err, updater.ErrChanged), errors.Is(err, updater.ErrUnplanned):
			h.renderPlan(w, r, http.StatusConflict, rec, change, noticeChanged)
		case errors.Is(err, updater.ErrBlocked):
			h.renderPlan(w, r, http.StatusConflict, rec, change, noticeBlocked)
		default:
			h.RenderRejection(w, r, words.Name(&rec.Container)+" is as it was", err, "To "+words.Name(&rec.Container),
				page.PathOf(&rec.Container))
		}
	})
}
