package api

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/dogwatch/dogwatch/core/plugin/agent"
)

// agentRoutes are those of users; that of the agents themselves is open, as each shows its certificate in what it
// sends over the connection, or its token.
func (h *handler) agentRoutes(s scopes, router chi.Router) {
	s.read.Get("/api/agents", h.listAgents)
	s.write.Post("/api/agents", h.createAgentToken)
	s.write.Delete("/api/agents/{name}", h.revokeAgent)
	s.write.Post("/api/agents/{name}/doctor", h.examineAgent)
	s.write.Post("/api/agents/{name}/rename", h.renameAgent)
	router.Get(agent.Path, h.linkAgent)
}

// isAgentLink reports whether a request is to become the link of an agent.
func isAgentLink(r *http.Request) bool {
	return strings.EqualFold(chi.RouteContext(r.Context()).RoutePath, agent.Path)
}

// linkAgent makes a link of a request. It returns when that has ended.
func (h *handler) linkAgent(w http.ResponseWriter, r *http.Request) {
	if h.Agents == nil {
		h.notFound(w, r)
		return
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		h.fail(w, r, http.StatusUpgradeRequired, "this is where agents connect, with a WebSocket; a proxy before Dogwatch "+
			"has to pass the headers Upgrade and Connection on")
		return
	}
	address := h.actor(r).Address
	conn, err := agent.Accept(w, r)
	if err != nil { // the response says why
		h.Log.Debug("no connection of an agent", "error", err)
		return
	}
	h.Agents.Serve(conn, address.String())
}

func (h *handler) listAgents(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, h.Service.Agents())
}

func (h *handler) examineAgent(w http.ResponseWriter, r *http.Request) {
	hops, err := h.Service.ExamineAgent(r.Context(), h.actor(r), param(r, "name"))
	if err != nil {
		h.failWith(w, r, notFound(err, "Agent not found"))
		return
	}
	h.respond(w, r, hops)
}

func (h *handler) createAgentToken(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Name string `json:"name"`
	}
	if _, ok := h.decode(w, r, &body); !ok {
		return
	}
	made, err := h.Service.CreateAgentToken(r.Context(), h.actor(r), body.Name)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	h.respondStatus(w, r, http.StatusCreated, made)
}

func (h *handler) revokeAgent(w http.ResponseWriter, r *http.Request) {
	if err := h.Service.RevokeAgent(r.Context(), h.actor(r), param(r, "name")); err != nil {
		h.failWith(w, r, notFound(err, "Agent not found"))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *handler) renameAgent(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Name string `json:"name"`
	}
	if _, ok := h.decode(w, r, &body); !ok {
		return
	}
	if err := h.Service.RenameAgent(r.Context(), h.actor(r), param(r, "name"), body.Name); err != nil {
		h.failWith(w, r, notFound(err, "Agent not found"))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
