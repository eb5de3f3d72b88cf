package api

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/delivery"
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
	found, err := h.Store.Deliveries(r.Context(), store.DeliveryFilter{State: given["state"], Trigger: given["trigger"], Before: before, Limit: limit})
	for i := range found {
		found[i].Error = h.Redact(found[i].Error)
	}
	if found == nil {
		found = []delivery.Delivery{}
	}
	return found, err
}

func (h *handler) retryDelivery(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(param(r, "id"), 10, 64)
	if err != nil {
		h.fail(w, r, http.StatusNotFound, "Delivery not found")
		return
	}
	switch err := h.Store.Retry(r.Context(), id); {
	case errors.Is(err, store.ErrNotFound):
		h.fail(w, r, http.StatusNotFound, "Delivery not found")
	case errors.Is(err, store.ErrConflict):
		h.fail(w, r, http.StatusConflict, "only a failed delivery can be retried, and this one has not failed")
	case err != nil:
		h.failWith(w, r, err)
	default:
		h.Triggers.Wake()
		h.respondStatus(w, r, http.StatusAccepted, struct{}{})
	}
}
