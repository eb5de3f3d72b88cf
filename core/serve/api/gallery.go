package api

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
)

// newest reads whether the index of the newest release is meant.
func newest(r *http.Request) (bool, error) {
	given, err := parameters(r, oneOf("newest"))
	if err != nil || given["newest"] == "" {
		return false, err
	}
	is, err := strconv.ParseBool(given["newest"])
	if err != nil {
		return false, sdk.Invalid("newest", "want true or false, got %q", given["newest"])
	}
	return is, nil
}

func (h *handler) listGallery(w http.ResponseWriter, r *http.Request) {
	asked, err := newest(r)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	all, err := h.Service.Gallery(r.Context(), h.actor(r), asked)
	switch {
	case errors.Is(err, service.ErrForbidden):
		h.failWith(w, r, err)
	case err != nil:
		h.fail(w, r, http.StatusBadGateway, err.Error())
	default:
		h.respond(w, r, append([]install.Offer{}, all...))
	}
}

// changedPlugin is what is there after a change.
type changedPlugin struct {
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"`
	Reference string `json:"reference"`
}

func (h *handler) changePlugin(do service.PluginChange) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked, err := newest(r)
		if err != nil {
			h.failWith(w, r, err)
			return
		}
		name := param(r, "name")
		pin, err := h.Service.ChangePlugin(r.Context(), h.actor(r), do, name, asked)
		switch {
		case errors.Is(err, service.ErrForbidden):
			h.failWith(w, r, err)
		case err != nil:
			h.fail(w, r, http.StatusConflict, err.Error())
		default:
			h.respond(w, r, changedPlugin{Name: name, Version: pin.Version, Reference: pin.Ref})
		}
	}
}
