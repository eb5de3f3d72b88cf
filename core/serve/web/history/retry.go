package history

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// retryDelivery has a failed delivery sent again.
func (h *Handler) retryDelivery(w http.ResponseWriter, r *http.Request) {
	if !h.Form(w, r) {
		return
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		err = service.ErrNotFound
	} else {
		err = h.service.RetryDelivery(r.Context(), h.ActorOf(r), id)
	}
	switch {
	case errors.Is(err, service.ErrNotFound):
		h.RenderError(w, r, http.StatusNotFound, page.Problem{
			Title: "There is no such delivery", Detail: "Deliveries that ended are forgotten after a while.",
			Back: "To the deliveries", BackTo: "/deliveries",
		})
	case errors.Is(err, service.ErrNotFailed):
		h.RenderError(w, r, http.StatusConflict, page.Problem{
			Title:  "There is nothing to retry",
			Detail: "Only a failed delivery can be retried. This one was sent, or is waiting already; perhaps somebody else asked for it.",
			Back:   "To the deliveries", BackTo: "/deliveries",
		})
	case err != nil:
		h.InternalError(w, r, "retry a delivery", err)
	default:
		http.Redirect(w, r, h.Path("/deliveries?retried="+strconv.FormatInt(id, 10)), http.StatusSeeOther)
	}
}
