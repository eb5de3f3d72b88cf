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
