package api

import (
	"net/http"

	"github.com/dogwatch/dogwatch/internal/imagediff"
)

// ImageDiff is what an update would change in the image of a container.
type ImageDiff struct {
	From PlanImage `json:"from"`
	To   PlanImage `json:"to"`
	imagediff.Diff
}

func (h *handler) diffContainer(w http.ResponseWriter, r *http.Request) {
	d, err := h.Service.ImageDiff(r.Context(), h.actor(r), param(r, "id"))
	if err != nil {
		h.failChange(w, r, notFound(err, "Container not found"))
		return
	}
	h.respond(w, r, ImageDiff{From: PlanImage(d.From), To: PlanImage(d.To), Diff: d.Diff})
}
