package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// Agents are those of other hosts; see agent.Controller.
type Agents interface {
	Agents() []agent.Status
	NewToken(ctx context.Context, name, creator string) (text string, expires time.Time, err error)
	Revoke(ctx context.Context, name string) error
	Rename(ctx context.Context, name, to string) error
}

// AgentToken lets one agent join.
type AgentToken struct {
	// Token is a secret, which is not kept.
	Token     string   `json:"token"`
	ExpiresAt sdk.Time `json:"expiresAt"`
	// URL is where the agent finds this Dogwatch; empty when public.url is not set.
	URL string `json:"url,omitempty"`
}

// Agents returns the agents that have joined, by name.
func (s *Service) Agents() []agent.Status {
	if s.opt.Agents == nil {
		return nil
	}
	return s.opt.Agents.Agents()
}

// CreateAgentToken makes a token with which a host joins as an agent, of a name unless that is empty. The error is an
// ErrForbidden unless the actor may change things, and an *sdk.InvalidError for a name that cannot be one.
func (s *Service) CreateAgentToken(ctx context.Context, actor auth.Actor, name string) (made AgentToken, err error) {
	if err := s.mayChangeAgents(actor, "make tokens for agents"); err != nil {
		return made, err
	}
	text, expires, err := s.opt.Agents.NewToken(ctx, name, actor.User)
	if err != nil {
		return made, s.safe(err)
	}
	made = AgentToken{Token: text, ExpiresAt: sdk.TimeOf(expires)}
	if u := s.opt.Config().PublicURL; u != nil {
		made.URL = strings.TrimRight(u.String(), "/")
	}
	s.auditAgent(ctx, actor, name, "", "may join until "+expires.UTC().Format("2006-01-02 15:04 UTC"))
	return made, nil
}

// RevokeAgent ends an agent at once. The error is an ErrForbidden unless the actor may change things, and an
// ErrNotFound when there is none of that name.
func (s *Service) RevokeAgent(ctx context.Context, actor auth.Actor, name string) error {
	if err := s.mayChangeAgents(actor, "revoke agents"); err != nil {
		return err
	}
	if err := s.agentError(name, s.opt.Agents.Revoke(ctx, name)); err != nil {
		return err
	}
	s.auditAgent(ctx, actor, name, "joined", "revoked")
	return nil
}

// RenameAgent gives an agent another name. The errors are those of RevokeAgent, and an *sdk.InvalidError for a name
// that cannot be one, or is taken.
func (s *Service) RenameAgent(ctx context.Context, actor auth.Actor, name, to string) error {
	if err := s.mayChangeAgents(actor, "rename agents"); err != nil {
		return err
	}
	if err := s.agentError(name, s.opt.Agents.Rename(ctx, name, to)); err != nil {
		return err
	}
	s.auditAgent(ctx, actor, name, name, to)
	return nil
}

func (s *Service) mayChangeAgents(actor auth.Actor, what string) error {
	if err := allow(actor, auth.Write, what); err != nil {
		return err
	}
	if s.opt.Agents == nil {
		return fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	return nil
}

func (s *Service) agentError(name string, err error) error {
	switch {
	case errors.Is(err, agent.ErrNotFound):
		return fmt.Errorf("agent %s: %w", name, ErrNotFound)
	case errors.Is(err, agent.ErrNameTaken):
		return sdk.Invalid("name", "another agent is called so")
	}
	return s.safe(err)
}

// auditAgent records what a user decided about an agent.
func (s *Service) auditAgent(ctx context.Context, actor auth.Actor, name, from, to string) {
	changed := event.Setting{From: from, To: to, User: actor.User, Address: actor.ClientAddress()}
	s.log.Info("a user decides about an agent", "agent", name, "from", from, "to", to, "user", changed.User, "address",
		changed.Address)
	s.auditSetting(ctx, strings.TrimSpace("agent "+name), changed)
}
