package operations

import (
	"context"
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
)

// RenderNotBegun responds with why a change of a container was not begun or cancelled.
func (h *Handler) RenderNotBegun(w http.ResponseWriter, r *http.Request, title phrase.Phrase, err error,
	back phrase.Phrase, to string) {
	status, detail := notBegun(err)
	p := page.Problem{Title: title, Detail: detail, Back: back, BackTo: to, Nav: "containers"}
	var forbidden *updater.ForbiddenError
	if errors.As(err, &forbidden) {
		p.Paste = forbidden.Paste
	}
	h.RenderError(w, r, status, p)
}

// renderNotOffered responds with the versions that are offered in the place of the one that a change asks for, if that
// is why it is not planned or begun; otherwise it returns false.
func (h *Handler) renderNotOffered(
	w http.ResponseWriter, r *http.Request, err error, c *sdk.Container, change service.Change,
) bool {
	var invalid *sdk.InvalidError
	if change.Version == "" || !errors.As(err, &invalid) {
		return false
	}
	p := page.Problem{
		Title:  phrase.New("%s is not offered for %s", words.Tag(change.Version), words.Name(c)),
		Detail: phrase.New("Nothing newer is offered now."),
		Back:   phrase.New("Go to %s", words.Name(c)), BackTo: page.PathOf(c),
	}
	change.Version = ""
	if offered, err := h.service.PlanDetails(r.Context(), h.ActorOf(r), change); err == nil && offered.Version != "" {
		p.Detail = phrase.New("Nothing was done. These versions are offered now:")
		details := h.planDetailsOf(offered, page.ChangePath(change.Kind, c))
		if len(details.Levels) == 0 {
			p.Choices = []page.Anchor{{Text: words.Tag(offered.Version), To: page.ChangePath(change.Kind, c)}}
		}
		for _, l := range details.Levels {
			p.Choices = append(p.Choices, page.Anchor{Text: l.Tag, To: l.To})
		}
	}
	h.RenderError(w, r, http.StatusConflict, p)
	return true
}

// notBegun is the status and the sentence for why a change is not planned or begun.
func notBegun(err error) (int, phrase.Phrase) {
	if errors.Is(err, updater.ErrNeverUpdated) {
		return NotBegunStatus(err), phrase.New("Dogwatch has not updated it yet, so there is no earlier version to go back to.")
	}
	return NotBegunStatus(err), phrase.New("Nothing was done: %s", phrase.Sentence(words.Mistake(err.Error())))
}

func NotBegunStatus(err error) int {
	status := http.StatusBadGateway // the registry or the engine could not be reached
	switch {
	case errors.Is(err, service.ErrForbidden):
		status = http.StatusForbidden
	case errors.Is(err, service.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, updater.ErrUnsupported):
		status = http.StatusUnprocessableEntity
	case errors.Is(err, updater.ErrNoUpdate), errors.Is(err, updater.ErrConflict), errors.Is(err, updater.ErrChanged),
		errors.Is(err, updater.ErrUnplanned),
		errors.Is(err, updater.ErrBlocked):
		status = http.StatusConflict
	case errors.Is(err, updater.ErrStopping), errors.Is(err, context.Canceled):
		status = http.StatusServiceUnavailable
	}
	return status
}
