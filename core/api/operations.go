package api

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	defaultPage = 100
	largestPage = 1000
)

func (h *handler) listPlugins(w http.ResponseWriter, r *http.Request) {
	all := []plugin.Status{}
	for _, b := range h.Plugins.Bundles() {
		all = append(all, h.status(b))
	}
	h.reply(w, r, all)
}

// status is the state of a plugin as clients see it.
func (h *handler) status(s plugin.Status) plugin.Status {
	s.Error = h.Redact(s.Error)
	return s
}

// bundle finds the plugin that the path names. It answers and returns nil when there is none.
func (h *handler) bundle(w http.ResponseWriter, r *http.Request) *plugin.Supervisor {
	name := param(r, "name")
	for _, b := range h.Plugins.Bundles() {
		if !strings.EqualFold(b.Name, name) {
			continue
		}
		if found, ok := h.Plugins.Bundle(b.Name); ok {
			return found
		}
	}
	h.fail(w, r, http.StatusNotFound, "Plugin not found")
	return nil
}

func (h *handler) restartPlugin(w http.ResponseWriter, r *http.Request) {
	bundle := h.bundle(w, r)
	if bundle == nil {
		return
	}
	bundle.Restart()
	h.replyStatus(w, r, http.StatusAccepted, h.status(bundle.Status()))
}

func (h *handler) trustPlugin(w http.ResponseWriter, r *http.Request) {
	bundle := h.bundle(w, r)
	if bundle == nil || !h.operator(w, r, "say which plugins are trusted") {
		return
	}
	var given struct {
		SHA256 string `json:"sha256"`
	}
	if _, ok := h.decode(w, r, &given); !ok {
		return
	}
	err := h.Plugins.Trust(r.Context(), bundle.Status().Name, given.SHA256)
	var invalid *sdk.InvalidError
	switch {
	case errors.As(err, &invalid):
		h.failWith(w, r, err)
		return
	case err != nil:
		h.fail(w, r, http.StatusConflict, err.Error())
		return
	}
	h.replyStatus(w, r, http.StatusAccepted, h.status(bundle.Status()))
}

// operator lets those pass who run the installation, see auth.Identity, and
// answers all others, who may not do what it says.
func (h *handler) operator(w http.ResponseWriter, r *http.Request, what string) bool {
	if auth.From(r.Context()).Operator() {
		return true
	}
	h.fail(w, r, http.StatusForbidden, "only people who are logged in may "+what)
	return false
}

// page reads the parameters of a list that goes back from the newest.
func page(given map[string]string) (before int64, limit int, err error) {
	n, err := number(given, "limit", defaultPage, 1, largestPage)
	if err == nil {
		before, err = number(given, "before", 0, 1, 1<<62)
	}
	return before, int(n), err
}

func (h *handler) listDeliveries(w http.ResponseWriter, r *http.Request) {
	found, err := h.deliveries(r)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	h.reply(w, r, found)
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
		h.replyStatus(w, r, http.StatusAccepted, struct{}{})
	}
}

// events answers a page of history, or a live stream to those who ask for one.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		h.stream(w, r)
		return
	}
	h.inTurn(h.listEvents)(w, r)
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
	h.reply(w, r, shown)
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
