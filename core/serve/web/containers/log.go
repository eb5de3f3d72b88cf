package containers

import (
	"context"
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// logView are the last lines that a container wrote.
type logView struct {
	Lines []logLine
	// Stopped is true when the container does not run, Full when there may be older lines.
	Stopped, Full bool
	// Gone, NoRight and Refused are why there is no log: no container, a user who may not read it any more, and a
	// watcher that may not, or cannot; Access says what it would take. Driver is the log driver that cannot be read.
	Gone, NoRight, Refused bool
	Access                 service.LogAccess
	Driver                 string
	// Failed is why the log could not be read, in the words of who could not.
	Failed string
}

// logLine is a line with when it was written, for people and for programs.
type logLine struct {
	watcher.LogLine
	Clock, Stamp string
}

// log reads the last lines that a container wrote.
func (h *Handler) log(ctx context.Context, r *http.Request, rec *store.Record) *logView {
	c := &rec.Container
	log, err := h.service.ContainerLog(ctx, h.ActorOf(r), c.ID, watcher.MaxLogLines)
	v := &logView{
		Stopped: c.Status != "" && c.Status != "running", Full: len(log.Lines) >= watcher.MaxLogLines,
		Driver: log.UnreadableDriver,
	}
	switch {
	case errors.Is(err, service.ErrNotFound):
		v.Gone = true
	case errors.Is(err, service.ErrForbidden) && !h.MayChoose(r):
		v.NoRight = true
	case errors.Is(err, service.ErrForbidden), errors.Is(err, service.ErrNoLog):
		v.Refused, v.Access = true, h.service.LogAccess(h.ActorOf(r), c.Watcher)
	case err != nil:
		v.Failed = visible.Line(err.Error())
	}
	for _, l := range log.Lines {
		line := logLine{LogLine: l}
		if !l.At.IsZero() {
			at := l.At.Time
			line.Clock, line.Stamp = at.In(h.Now().Location()).Format("2006-01-02 15:04:05"), at.UTC().Format("2006-01-02T15:04:05Z")
		}
		v.Lines = append(v.Lines, line)
	}
	return v
}

// showLog renders the last lines that a container wrote, for which its engine is asked.
func (h *Handler) showLog(w http.ResponseWriter, r *http.Request, rec *store.Record) {
	if !page.Partial(r) {
		http.Redirect(w, r, h.Path(tabPath(page.PathOf(&rec.Container), tabLog, "")), http.StatusFound)
		return
	}
	h.Fragment(w, r, "container", "log", h.log(r.Context(), r, rec))
}
