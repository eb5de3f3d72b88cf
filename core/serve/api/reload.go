package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/plugin/reload"
)

func (h *handler) previewReload(w http.ResponseWriter, r *http.Request) {
	result, err := h.Service.PreviewReload(r.Context(), h.actor(r))
	if err != nil {
		h.failReload(w, r, err)
		return
	}
	h.respond(w, r, result)
}

// reload applies the configuration; one with mistakes is the client's to mend.
func (h *handler) reload(w http.ResponseWriter, r *http.Request) {
	result, err := h.Service.ReloadConfiguration(r.Context(), h.actor(r))
	switch {
	case err != nil:
		h.failReload(w, r, err)
	case !result.Applied:
		h.fail(w, r, http.StatusUnprocessableEntity,
			"nothing is changed, since the configuration has mistakes: "+strings.Join(result.Errors, "; "))
	default:
		h.respond(w, r, result)
	}
}

func (h *handler) failReload(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, reload.ErrUnsupported) {
		h.fail(w, r, http.StatusConflict, err.Error())
		return
	}
	h.failWith(w, r, err)
}
