package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/sdk"
)

func (h *handler) listPlugins(w http.ResponseWriter, r *http.Request) {
	all := []plugin.Status{}
	for _, b := range h.Plugins.Bundles() {
		all = append(all, h.status(b))
	}
	h.respond(w, r, all)
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
	h.respondStatus(w, r, http.StatusAccepted, h.status(bundle.Status()))
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
	h.respondStatus(w, r, http.StatusAccepted, h.status(bundle.Status()))
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
