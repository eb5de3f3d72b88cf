package choices

import (
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// linkErrors are the statuses and titles of the reasons for which a link is refused.
var linkErrors = []struct {
	err    error
	status int
	title  string
	help   string
}{
	{signedlink.ErrInvalid, http.StatusNotFound, "This link is not valid",
		"Copy all of it from the message, or open the pages of Dogwatch to decide"},
	{signedlink.ErrExpired, http.StatusGone, "This link has expired",
		"A later message has another one, and the pages of Dogwatch let you decide too"},
	{signedlink.ErrRevoked, http.StatusGone, "This link was revoked", "Open the pages of Dogwatch to decide"},
	{signedlink.ErrGone, http.StatusGone, "There is nothing to decide any more",
		"What this link is about is no longer offered: the container was updated or removed, or there is something newer"},
}

// renderLinkError says why a link is refused.
func (h *Handler) renderLinkError(w http.ResponseWriter, r *http.Request, shown signedlink.Shown, err error) {
	p := h.about(shown)
	if errors.Is(err, signedlink.ErrUsed) {
		kind := choice.Kind(shown.Use.Action)
		p.Title = doneTitles[kind]
		p.Done = "This link was used on " + words.Exact(shown.Use.At) +
			", and works once. To change that, open the pages of Dogwatch"
		h.renderLink(w, r, http.StatusGone, p)
		return
	}
	for _, known := range linkErrors {
		if errors.Is(err, known.err) {
			p.Title, p.Wrong = known.title, known.help
			h.renderLink(w, r, known.status, p)
			return
		}
	}
	if r.Context().Err() != nil {
		return
	}
	h.Log.Error("redeem a link", "trigger", shown.Trigger, "container", shown.Update.Subject, "error", err)
	h.renderLink(w, r, http.StatusInternalServerError, linkPage{
		Title: "This did not work", Wrong: "Dogwatch could not do it; its log has the details. Try the link again later",
	})
}
