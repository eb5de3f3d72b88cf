package api

import (
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/sdk"
)

// revokeLinks makes the links useless that were sent so far.
func (h *handler) revokeLinks(w http.ResponseWriter, r *http.Request) {
	err := h.Service.RevokeSignedLinks(r.Context(), h.actor(r), r.URL.Query().Get("trigger"))
	switch {
	case errors.Is(err, sdk.ErrUnsupported):
		h.fail(w, r, http.StatusUnprocessableEntity, err.Error())
	case err != nil:
		h.failWith(w, r, err)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
