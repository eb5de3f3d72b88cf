package choices

import (
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
)

// linkErrors are the statuses and titles of the reasons for which a link is refused.
var linkErrors = []struct {
	err    error
	status int
	title  phrase.Phrase
	help   phrase.Phrase
	wrong  bool // whether it may be the reader's mistake
}{
	{signedlink.ErrInvalid, http.StatusNotFound, phrase.New("This link is not valid"),
		phrase.New("Part of the link may be missing. Copy the whole link from the message, or decide in Dogwatch"), true},
	{signedlink.ErrExpired, http.StatusGone, phrase.New("This link has expired"),
		phrase.New("Use the link in a later message, or decide in Dogwatch"), false},
	{signedlink.ErrRevoked, http.StatusGone, phrase.New("This link was revoked"),
		phrase.New("All links sent before were revoked in Dogwatch. Decide there, or wait for the next message"), false},
	{signedlink.ErrGone, http.StatusGone, phrase.New("Nothing left to decide"),
		phrase.New("This update is no longer available: the container was updated, or a newer version came out"), false},
}

// renderLinkError says why a link is refused.
func (h *Handler) renderLinkError(w http.ResponseWriter, r *http.Request, shown signedlink.Shown, err error) {
	p := h.about(shown)
	if errors.Is(err, signedlink.ErrUsed) {
		kind := choice.Kind(shown.Use.Action)
		p.Title, p.Used = doneTitle(kind), shown.Use.At
		if kind == choice.Snooze {
			p.Snoozed = h.snoozed(shown.Update.Subject)
		}
		h.renderLink(w, r, http.StatusGone, p)
		return
	}
	for _, known := range linkErrors {
		if errors.Is(err, known.err) {
			p.Title, p.Done = known.title, known.help
			switch {
			case known.wrong:
				p.Done, p.Wrong = nil, known.help
			case known.err == signedlink.ErrGone && !shown.Known:
				p.Done = phrase.New("Dogwatch no longer sees this container")
			}
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

// snoozed says until when the updates of a container are snoozed; nil where they are not any more.
func (h *Handler) snoozed(subject string) phrase.Phrase {
	for _, c := range h.service.AllChoices() {
		switch {
		case c.Kind != choice.Snooze || c.Subject != subject:
		case c.Until.IsZero():
			return phrase.New("It is snoozed until the next version.")
		case c.Until.After(h.Now()):
			return phrase.New("It is snoozed until %s.", preview.Moment(c.Until.Time))
		}
	}
	return nil
}
