package operations

import (
	"context"
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/updater"
)

// RenderRejection responds with why a change of a container was not begun or cancelled.
func (h *Handler) RenderRejection(w http.ResponseWriter, r *http.Request, title string, err error, back, to string) {
	status, detail := rejection(err)
	p := page.Problem{Title: title, Detail: detail, Back: back, BackTo: to}
	var forbidden *updater.ForbiddenError
	if errors.As(err, &forbidden) {
		p.Paste = forbidden.Paste
	}
	h.RenderError(w, r, status, p)
}

// rejection is the status and the sentence for why a change is not planned or begun.
func rejection(err error) (int, string) {
	return RejectionStatus(err), "Nothing was done: " + words.Sentence(err.Error())
}

func RejectionStatus(err error) int {
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
