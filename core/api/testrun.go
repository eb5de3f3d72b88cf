package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/testrun"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// testRunView is the result of a component's test run.
type testRunView struct {
	testrun.Result
	Took string `json:"took"`
}

// testComponent tries a component for real. The end of the request ends the
// trial, unless it has been handed to a trigger, which runs to its end.
func (h *handler) testComponent(k kind.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, found := h.Components.Get(k, param(r, "type"), param(r, "name"))
		if !found {
			h.notFound(w, r)
			return
		}
		var given struct {
			Image string `json:"image"`
		}
		if _, ok := h.decode(w, r, &given); !ok {
			return
		}
		ctx := r.Context()
		if k == kind.Trigger {
			ctx = h.run
		}
		began := time.Now()
		result, err := h.TestRuns.Run(ctx, c, testrun.Request{Image: given.Image, AnyHost: auth.From(r.Context()).Operator()})
		var invalid *sdk.InvalidError
		for i, warning := range result.Warnings {
			result.Warnings[i] = h.Redact(warning)
		}
		switch {
		case err == nil:
			result.Title, result.Body, result.Response = h.Redact(result.Title), h.Redact(result.Body), h.Redact(result.Response)
			h.respond(w, r, testRunView{result, time.Since(began).Round(time.Millisecond).String()})
		case errors.Is(err, testrun.ErrHost):
			h.fail(w, r, http.StatusForbidden, err.Error())
		case errors.As(err, &invalid) && invalid.Fields[0].Field == "image", ctx.Err() != nil:
			h.failWith(w, r, err)
		default:
			h.fail(w, r, http.StatusBadGateway, h.Redact(err.Error()))
		}
	}
}
