package choices

import (
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// linkErrors are the statuses and titles of the reasons for which a link is refused.
var linkErrors = []struct {
	err    error
	status int
	title  phrase.Phrase
	help   phrase.Phrase
}{
	{signedlink.ErrInvalid, http.StatusNotFound, phrase.New("This link is not valid"),
		phrase.New("Copy all of it from the message, or open the pages of Dogwatch to decide")},
	{signedlink.ErrExpired, http.StatusGone, phrase.New("This link has expired"),
		phrase.New("A later message has another one, and the pages of Dogwatch let you decide too")},
	{signedlink.ErrRevoked, http.StatusGone, phrase.New("This link was revoked"), phrase.New("Open the pages of Dogwatch to decide")},
	{signedlink.ErrGone, http.StatusGone, phrase.New("There is nothing to decide any more"),
		phrase.New("What this link is about is no longer offered: the container was updated or removed, or there is something newer")},
}

// renderLinkError says why a link is refused.
func (h *Handler) renderLinkError(w http.ResponseWriter, r *http.Request, shown signedlink.Shown, err error) {
	p := h.about(shown)
	if errors.Is(err, signedlink.ErrUsed) {
		kind := choice.Kind(shown.Use.Action)
		p.Title = doneTitle(kind)
		p.Done = phrase.New("This link was used on %s, and works once. To change that, open the pages of Dogwatch",
			words.Exact(shown.Use.At))
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
		Title: phrase.New("This did not work"), Wrong: phrase.New("Dogwatch could not do it; its log has the details. Try the link again later"),
	})
}
