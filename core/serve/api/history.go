package api

import (
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// events responds with a page of history, or with a live stream if the client accepts one.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		h.stream(w, r)
		return
	}
	h.limitRendering(h.listEvents)(w, r)
}

// listEvents responds with a page of history. It is apart from events, so that a
// stream does not keep its stack frame.
func (h *handler) listEvents(w http.ResponseWriter, r *http.Request) {
	given, err := parameters(r, oneOf("limit", "before"))
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	before, limit, err := page(given)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	found, err := h.Service.History(r.Context(), h.actor(r), event.Filter{Before: before, Limit: limit})
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	if found == nil {
		found = []event.Event{}
	}
	h.respond(w, r, found)
}
