package api

import (
	_ "embed"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func (h *handler) health(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, map[string]any{"uptime": h.Now().Sub(h.started).Seconds()})
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
	state := readiness{Problems: []string{}, Watchers: map[string]watcherReadiness{}}
	problem := func(id, message string) { state.Problems = append(state.Problems, h.Redact(id+": "+message)) }
	for _, k := range kind.Kinds() {
		for _, c := range h.Components.All(k) {
			switch view := c.View(); view.State {
			case component.Failed:
				problem(c.FullID(), strings.TrimPrefix(view.Error, c.FullID()+": "))
			case component.Pending:
				problem(c.FullID(), "its plugin has not answered yet")
			}
			if k == kind.Watcher {
				state.Watchers[c.Name] = watcherReadiness{NextCheck: sdk.TimeOf(h.Checks.Next(c.Name))}
			}
		}
	}
	for _, m := range h.Auth.Methods() {
		if m.Problem != "" {
			problem("auth."+m.ID(), m.Problem)
		}
	}
	for _, b := range h.Plugins.Bundles() {
		switch b.State {
		case plugin.Running, plugin.Stopped, plugin.Starting:
		default:
			problem("plugin "+b.Name, string(b.State)+": "+b.Error)
		}
	}
	state.Ready = len(state.Problems) == 0
	status := http.StatusOK
	if !state.Ready {
		status = http.StatusServiceUnavailable
	}
	h.respondStatus(w, r, status, state)
}
