package history

import (
	"net/http"
	"strconv"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// retryDelivery has a delivery sent now whose last attempt failed.
func (h *Handler) retryDelivery(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		err = service.ErrNotFound
	} else {
		err = h.service.RetryDelivery(r.Context(), h.ActorOf(r), id)
	}
	problem := page.Problem{Back: phrase.New("Go to deliveries"), BackTo: "/deliveries"}
	missing, ended := problem, problem
	missing.Title = phrase.New("There is no such delivery")
	missing.Detail = phrase.New("Deliveries that ended are forgotten after a while.")
	ended.Title = phrase.New("There is nothing to retry")
	ended.Detail = phrase.New("This delivery was sent, is being sent, or has not been tried yet; perhaps somebody else retried it.")
	h.Finish(w, r, err, "retry a delivery", "/deliveries?retried="+strconv.FormatInt(id, 10),
		page.Failure{Err: service.ErrNotFound, Problem: missing}, page.Failure{Err: service.ErrNotFailed, Problem: ended})
}
