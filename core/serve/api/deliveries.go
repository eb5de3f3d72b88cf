package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

func (h *handler) listDeliveries(w http.ResponseWriter, r *http.Request) {
	found, err := h.deliveries(r)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	h.respond(w, r, found)
}

func (h *handler) deliveries(r *http.Request) ([]delivery.Delivery, error) {
	given, err := parameters(r, oneOf("limit", "before", "state", "trigger"))
	if err != nil {
		return nil, err
	}
	before, limit, err := page(given)
	if err != nil {
		return nil, err
	}
	states := []string{delivery.Pending, delivery.Sending, delivery.Sent, delivery.Failed, delivery.Skipped}
	if state := given["state"]; state != "" && !slices.Contains(states, state) {
		return nil, sdk.Invalid("state", "want one of %s, got %q", strings.Join(states, ", "), state)
	}
	found, err := h.Service.Deliveries(r.Context(), store.DeliveryFilter{
		State: given["state"], Trigger: given["trigger"], Before: before, Limit: limit,
	})
	if found == nil {
		found = []delivery.Delivery{}
	}
	return found, err
}

// retryDelivery makes a delivery that failed, or that waits for another attempt, due at once.
func (h *handler) retryDelivery(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(param(r, "id"), 10, 64)
	if err != nil {
		h.fail(w, r, http.StatusNotFound, "Delivery not found")
		return
	}
	if err := h.Service.RetryDelivery(r.Context(), h.actor(r), id); err != nil {
		h.failWith(w, r, notFound(err, "Delivery not found"))
		return
	}
	h.respondStatus(w, r, http.StatusAccepted, struct{}{})
}
