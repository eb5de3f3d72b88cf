package api

import (
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// logLine is a line that a container wrote.
type logLine struct {
	At      sdk.Time `json:"at,omitzero"`
	Stream  string   `json:"stream"`
	Message string   `json:"message"`
}

// containerLog responds with the last lines that a container wrote, the oldest first.
func (h *handler) containerLog(w http.ResponseWriter, r *http.Request) {
	given, err := parameters(r, oneOf("lines"))
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	lines, err := number(given, "lines", 100, 1, watcher.MaxLogLines)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	log, err := h.Service.ContainerLog(r.Context(), h.actor(r), param(r, "id"), int(lines))
	switch {
	case errors.Is(err, service.ErrNotFound), errors.Is(err, service.ErrForbidden), err != nil && r.Context().Err() != nil:
		h.failWith(w, r, err)
	case errors.Is(err, service.ErrNoLog):
		h.fail(w, r, http.StatusConflict, err.Error())
	case err != nil:
		h.fail(w, r, http.StatusBadGateway, err.Error())
	case log.UnreadableDriver != "":
		h.fail(w, r, http.StatusConflict, "the engine cannot read the log driver "+log.UnreadableDriver+
			" of the container: give it another one, such as local or json-file")
	default:
		all := make([]logLine, len(log.Lines))
		for i, line := range log.Lines {
			all[i] = logLine{line.At, streamOf(line), line.Text}
		}
		h.respond(w, r, all)
	}
}

func streamOf(line watcher.LogLine) string {
	if line.Stderr {
		return "stderr"
	}
	return "stdout"
}
