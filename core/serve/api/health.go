package api

import (
	"net/http"

	"github.com/dogwatch/dogwatch/sdk"
)

func (h *handler) health(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, Health{Uptime: h.Now().Sub(h.started).Seconds()})
}

// readiness tells monitoring whether everything configured works.
type readiness struct {
	Ready bool `json:"ready"`
	// Problems are what does not work, in words.
	Problems []string `json:"problems"`
	// Watchers is when each watcher is checked next, by its name.
	Watchers map[string]watcherReadiness `json:"watchers"`
}

type watcherReadiness struct {
	NextCheck sdk.Time `json:"nextCheck,omitzero"`
}

func (h *handler) ready(w http.ResponseWriter, r *http.Request) {
	found := h.Service.Readiness()
	state := readiness{
		Ready: len(found.Problems) == 0, Problems: append([]string{}, found.Problems...),
		Watchers: map[string]watcherReadiness{},
	}
	for name, checked := range found.Watchers {
		state.Watchers[name] = watcherReadiness{NextCheck: sdk.TimeOf(checked)}
	}
	status := http.StatusOK
	if !state.Ready {
		status = http.StatusServiceUnavailable
	}
	h.respondStatus(w, r, status, state)
}
