package api

import (
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
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
	found, err := h.Store.History(r.Context(), event.Filter{Before: before, Limit: limit, Public: !auth.From(r.Context()).Person()})
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	shown := []event.Event{}
	for _, e := range found {
		shown = append(shown, h.redacted(e))
	}
	h.respond(w, r, shown)
}

// redacted returns an event without secrets in its errors, whose words come
// from elsewhere. Its other texts are not touched: a secret that is an everyday
// word must not tear holes into names.
func (h *handler) redacted(e event.Event) event.Event {
	if e.Container != nil && e.Container.Error != nil {
		c := *e.Container
		c.Error = &sdk.ContainerError{Message: h.Redact(c.Error.Message)}
		e.Container = &c
	}
	if e.Check != nil {
		c := *e.Check
		c.Error = h.Redact(c.Error)
		e.Check = &c
	}
	if e.Watcher != nil {
		w := *e.Watcher
		w.Error = h.Redact(w.Error)
		e.Watcher = &w
	}
	if e.Delivery != nil {
		d := *e.Delivery
		d.Error = h.Redact(d.Error)
		e.Delivery = &d
	}
	if e.Plugin != nil {
		p := *e.Plugin
		p.Error = h.Redact(p.Error)
		e.Plugin = &p
	}
	if e.Login != nil {
		l := *e.Login
		l.Error = h.Redact(l.Error)
		e.Login = &l
	}
	return e
}
