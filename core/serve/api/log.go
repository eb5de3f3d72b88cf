package api

import (
	"cmp"
	"net/http"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/sdk"
)

func (h *handler) logLevel(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, map[string]string{"level": h.Service.LogLevel()})
}

func (h *handler) setLogLevel(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Level string `json:"level"`
	}
	if _, ok := h.decode(w, r, &body); !ok {
		return
	}
	if err := h.Service.SetLogLevel(r.Context(), h.actor(r), body.Level); err != nil {
		h.failWith(w, r, err)
		return
	}
	h.logLevel(w, r)
}

// logEntriesMax bounds the entries of one response; no more are kept.
const logEntriesMax = 1000

// listLogEntries responds with the last entries of the log.
func (h *handler) listLogEntries(w http.ResponseWriter, r *http.Request) {
	entries, err := h.logEntries(r)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	h.respond(w, r, entries)
}

func (h *handler) logEntries(r *http.Request) ([]logging.Entry, error) {
	given, err := parameters(r, oneOf("part", "level", "limit"))
	if err != nil {
		return nil, err
	}
	limit, err := number(given, "limit", 100, 1, logEntriesMax)
	if err != nil {
		return nil, err
	}
	level := hclog.LevelFromString(cmp.Or(given["level"], "trace"))
	if level == hclog.NoLevel || level == hclog.Off {
		return nil, sdk.Invalid("level", "want trace, debug, info, warn or error, got %q", given["level"])
	}
	entries, _, err := h.Service.LogEntries(h.actor(r), logging.Filter{Part: given["part"], Level: level, Limit: int(limit)})
	if entries == nil {
		entries = []logging.Entry{}
	}
	return entries, err
}
