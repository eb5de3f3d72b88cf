package choices

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// redeem does what a link stands for.
func (h *Handler) redeem(w http.ResponseWriter, r *http.Request) {
	if !h.links.Enabled() {
		h.renderLink(w, r, http.StatusNotFound, linksOff)
		return
	}
	token := r.PathValue("token")
	until, ok := h.snoozeEnd(r.PostForm)
	if !ok {
		h.renderLink(w, r, http.StatusUnprocessableEntity, linkPage{
			Title: phrase.New("Nothing was decided"), Wrong: phrase.New("The form is not understood. Open the link again"),
		})
		return
	}
	shown, err := h.links.Redeem(r.Context(), token, choice.Kind(r.PostFormValue("action")), until)
	log := h.Log.With("trigger", shown.Trigger, "container", shown.Update.Subject, "action", shown.Use.Action,
		"address", h.ActorOf(r).ClientAddress())
	switch {
	case errors.Is(err, signedlink.ErrChoice):
		p := h.question(shown, token)
		p.Wrong = phrase.Capital(words.Refusal(err.Error()))
		h.renderLink(w, r, http.StatusUnprocessableEntity, p)
		return
	case err != nil:
		log.Info("a link was refused", "error", err)
		h.renderLinkError(w, r, shown, err)
		return
	}
	log.Info("decided with a link")
	p := h.about(shown)
	chosen := choice.Kind(shown.Use.Action)
	p.Title, p.Done = doneTitle(chosen), doneSentence(p.Name, chosen, until)
	h.renderLink(w, r, http.StatusOK, p)
}

// snoozeEnd returns when a snooze ends, as a form says. The form of several actions
// has that for the others too.
func (h *Handler) snoozeEnd(form url.Values) (until time.Time, ok bool) {
	days := form.Get("days")
	if days == "" || days == "0" || form.Get("action") != "" && form.Get("action") != string(choice.Snooze) {
		return time.Time{}, true
	}
	n, err := strconv.ParseUint(days, 10, 16)
	return h.Now().AddDate(0, 0, int(n)), err == nil
}

// doneSentence says what follows from a decision about the update of a container.
func doneSentence(name string, chosen choice.Kind, until time.Time) phrase.Phrase {
	switch {
	case chosen == choice.Approved:
		return phrase.New("Dogwatch updates %s in the next update window, or right away if there is none. You can close this page", name)
	case chosen == choice.Skip:
		return phrase.New("Dogwatch ignores this version of %s and offers the next one. You can close this page", name)
	case until.IsZero():
		return phrase.New("You will hear about %s again when the next version is out. You can close this page", name)
	}
	return phrase.New("You will hear about %s again after %s. You can close this page", name, preview.Moment(until))
}
