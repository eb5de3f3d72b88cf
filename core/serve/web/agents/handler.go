// Package agents serves the page of the hosts that have joined.
package agents

import (
	"context"
	"embed"
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// Templates are those of its pages.
//
//go:embed agents.html
var Templates embed.FS

// Service is the agents; *service.Service says what its methods return.
type Service interface {
	Agents() []service.Agent
	CreateAgentToken(ctx context.Context, actor auth.Actor, name string) (service.AgentToken, error)
	ExamineAgent(ctx context.Context, actor auth.Actor, name string) ([]service.AgentHop, error)
	RenameAgent(ctx context.Context, actor auth.Actor, name, to string) error
	RevokeAgent(ctx context.Context, actor auth.Actor, name string) error
}

// Handler serves the agents.
type Handler struct {
	*page.Site
	service Service
}

// New returns a handler.
func New(site *page.Site, service Service) *Handler { return &Handler{site, service} }

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /agents", h.show)
	mux.HandleFunc("POST /agents", h.Posted(h.createToken))
	mux.HandleFunc("POST /agents/{name}/doctor", h.Posted(h.examine))
	mux.HandleFunc("POST /agents/{name}/rename", h.Posted(h.rename))
	mux.HandleFunc("POST /agents/{name}/revoke", h.Posted(h.revoke))
}
