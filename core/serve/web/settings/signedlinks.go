package settings

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// linksView is the part of the settings that revokes the links of messages.
type linksView struct {
	// Triggers are the ids of those that may have sent links.
	Triggers []string
}

// linksFor returns the part about links; nil where messages have none.
func (h *Handler) linksFor(r *http.Request) *linksView {
	if !h.service.HasLinks() {
		return nil
	}
	v := &linksView{}
	for _, c := range h.service.Components(h.ActorOf(r), kind.Trigger) {
		v.Triggers = append(v.Triggers, c.ID)
	}
	return v
}

// revokeLinks makes the links useless that were sent so far.
func (h *Handler) revokeLinks(w http.ResponseWriter, r *http.Request) {
	err := h.service.RevokeSignedLinks(r.Context(), h.ActorOf(r), r.PostFormValue("trigger"))
	if err != nil {
		h.Finish(w, r, err, "revoke the links", "", forbidden)
		return
	}
	h.RenderError(w, r, http.StatusOK, page.Problem{
		Title:  phrase.New("The links are revoked"),
		Detail: phrase.New("Those in messages that were sent so far decide nothing any more. Later messages have new ones."),
		Back:   phrase.New("Go to Settings"), BackTo: "/settings",
	})
}
