package api

import (
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/event"
)

const (
	defaultPage = 100
	largestPage = 1000
)

// page reads the parameters of a list that goes back from the newest.
func page(given map[string]string) (before int64, limit int, err error) {
	n, err := number(given, "limit", defaultPage, 1, largestPage)
	if err == nil {
		before, err = number(given, "before", 0, 1, 1<<62)
	}
	return before, int(n), err
}

// events responds with a page of history, or with a live stream if the client accepts one.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		h.stream(w, r)
		return
	}
	h.limitRendering(h.listEvents)(w, r)
}

// listEvents is apart from events, so that no stream keeps its room on the stack.
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
