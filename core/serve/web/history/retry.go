package history

import (
	"net/http"
	"strconv"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// retryDelivery has a failed delivery sent again.
func (h *Handler) retryDelivery(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		err = service.ErrNotFound
	} else {
		err = h.service.RetryDelivery(r.Context(), h.ActorOf(r), id)
	}
	problem := page.Problem{Back: "To the deliveries", BackTo: "/deliveries"}
	missing, ended := problem, problem
	missing.Title = "There is no such delivery"
	missing.Detail = "Deliveries that ended are forgotten after a while."
	ended.Title = "There is nothing to retry"
	ended.Detail = "Only a failed delivery can be retried. This one was sent, or is waiting already; perhaps somebody else " +
		"asked for it."
	h.Finish(w, r, err, "retry a delivery", "/deliveries?retried="+strconv.FormatInt(id, 10),
		page.Failure{Err: service.ErrNotFound, Problem: missing}, page.Failure{Err: service.ErrNotFailed, Problem: ended})
}
