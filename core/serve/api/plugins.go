package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
)

func (h *handler) listPlugins(w http.ResponseWriter, r *http.Request) {
	all := []plugin.Status{}
	for _, p := range h.Service.Plugins() {
		all = append(all, p.Status)
	}
	h.respond(w, r, all)
}

func (h *handler) restartPlugin(w http.ResponseWriter, r *http.Request) {
	p, err := h.Service.RestartPlugin(h.actor(r), param(r, "name"))
	if err != nil {
		h.failWith(w, r, notFound(err, "Plugin not found"))
		return
	}
	h.respondStatus(w, r, http.StatusAccepted, p.Status)
}

func (h *handler) trustPlugin(w http.ResponseWriter, r *http.Request) {
	var body struct {
		SHA256 string `json:"sha256"`
	}
	if _, ok := h.decode(w, r, &body); !ok {
		return
	}
	p, err := h.Service.TrustPlugin(r.Context(), h.actor(r), param(r, "name"), body.SHA256)
	h.respondDecided(w, r, p, err)
}

func (h *handler) grantPlugin(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Capability string `json:"capability"`
		Granted    *bool  `json:"granted"`
	}
	if _, ok := h.decode(w, r, &body); !ok {
		return
	}
	if !slices.Contains(config.Grantable(), body.Capability) {
		h.failWith(w, r, sdk.Invalid("capability", "want one of %s", strings.Join(config.Grantable(), ", ")))
		return
	}
	if body.Granted == nil {
		h.failWith(w, r, sdk.Invalid("granted", "want true to grant it, or false to take it away"))
		return
	}
	p, err := h.Service.GrantPlugin(r.Context(), h.actor(r), param(r, "name"), body.Capability, *body.Granted)
	h.respondDecided(w, r, p, err)
}

// respondDecided responds with a plugin about which a user decided something, or says why that cannot be.
func (h *handler) respondDecided(w http.ResponseWriter, r *http.Request, p service.Plugin, err error) {
	var invalid *sdk.InvalidError
	switch {
	case errors.Is(err, service.ErrNotFound), errors.Is(err, service.ErrForbidden), errors.As(err, &invalid):
		h.failWith(w, r, notFound(err, "Plugin not found"))
	case err != nil:
		h.fail(w, r, http.StatusConflict, err.Error())
	default:
		h.respondStatus(w, r, http.StatusAccepted, p.Status)
	}
}
