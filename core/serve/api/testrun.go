package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// testRunView is the result of a component's test run.
type testRunView struct {
	testrun.Result
	Took string `json:"took"`
}

// testComponent does a test run of a component. The end of the request cancels it,
// but for a trigger: what is being sent is sent to its end.
func (h *handler) testComponent(k kind.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Image string `json:"image"`
		}
		if _, ok := h.decode(w, r, &body); !ok {
			return
		}
		ctx := r.Context()
		if k == kind.Trigger {
			ctx = h.run
		}
		result, err := h.Service.Test(ctx, h.actor(r), k, param(r, "type"), param(r, "name"), body.Image)
		var invalid *sdk.InvalidError
		switch {
		case err == nil:
			h.respond(w, r, testRunView{result.Result, result.Took.Round(time.Millisecond).String()})
		case errors.Is(err, service.ErrNotFound):
			h.componentNotFound(w, r, k)
		case errors.Is(err, testrun.ErrHost), errors.Is(err, service.ErrForbidden):
			h.fail(w, r, http.StatusForbidden, err.Error())
		case errors.As(err, &invalid) && invalid.Fields[0].Field == "image", ctx.Err() != nil:
			h.failWith(w, r, err)
		default:
			h.fail(w, r, http.StatusBadGateway, err.Error())
		}
	}
}
