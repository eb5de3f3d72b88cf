package service

import (
	"cmp"
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
	Examine(ctx context.Context, name, public string) ([]agent.Hop, error)
}

// Agent is a host that has joined.
type Agent struct {
	Name      string   `json:"name"`
	Watcher   string   `json:"watcher"`
	Connected bool     `json:"connected"`
	Version   string   `json:"version,omitempty"`
	JoinedAt  sdk.Time `json:"joinedAt"`
	CreatedBy string   `json:"createdBy"`
	// SeenAt is when it was connected last; absent when it never was.
	SeenAt sdk.Time `json:"seenAt,omitzero"`
	// Since, Address and Limits are those of the connection.
	Since   sdk.Time     `json:"since,omitzero"`
	Address string       `json:"address,omitempty"`
	Limits  *AgentLimits `json:"limits,omitempty"`
}

// AgentLimits are what the owner of a host allows there.
type AgentLimits struct {
	// ReadOnly says why nothing is updated; "" when updates are allowed.
	ReadOnly string `json:"readOnly,omitempty"`
	// Stacks are those whose containers may be updated; none for all.
	Stacks []string `json:"stacks,omitempty"`
	// Hooks is whether the commands of hook labels run.
	Hooks bool `json:"hooks"`
	// Logs is whether the last lines that containers wrote are read.
	Logs bool `json:"logs"`
}

// AgentHop is what was found of a part of the way between an agent and here.
type AgentHop struct {
	Subject string `json:"subject"`
	// Level is "ok" or "fail".
	Level  string `json:"level"`
	Detail string `json:"detail"`
	// Remedy is what to do, when the detail does not say so.
	Remedy string `json:"remedy,omitempty"`
}

// AgentToken lets one agent join.
type AgentToken struct {
	// Token is a secret, which is not kept.
	Token     string   `json:"token"`
	ExpiresAt sdk.Time `json:"expiresAt"`
	// URL is where the agent finds this Dogwatch; empty when public.url is not set.
	URL string `json:"url,omitempty"`
}

// Command is what to run on the host to join with the token; URL stands for an address that is not known.
func (t AgentToken) Command() string {
	url := cmp.Or(t.URL, "URL")
	return "dogwatch agent join " + url + " --token " + t.Token
}

// Agents returns the agents that have joined, by name.
func (s *Service) Agents() []Agent {
	all := []Agent{}
	if s.opt.Agents == nil {
		return all
	}
	for _, a := range s.opt.Agents.Agents() {
		joined := Agent{
			Name: a.Name, Watcher: agent.TypeName + "." + a.Name, Connected: a.Connected, Version: a.Version,
			JoinedAt: sdk.TimeOf(a.Joined), CreatedBy: a.Creator, SeenAt: sdk.TimeOf(a.Seen), Since: sdk.TimeOf(a.Since),
			Address: a.Address,
		}
		if a.Connected {
			joined.Limits = &AgentLimits{
				ReadOnly: a.Limits.ReadOnly, Stacks: a.Limits.Stacks, Hooks: a.Limits.Hooks, Logs: a.Limits.Logs,
			}
		}
		all = append(all, joined)
	}
	return all
}

// ExamineAgent goes the way to an agent, and says what was found, up to what does not work. The errors are those of
// RevokeAgent.
func (s *Service) ExamineAgent(ctx context.Context, actor auth.Actor, name string) ([]AgentHop, error) {
	if err := s.mayChangeAgents(actor, "examine agents"); err != nil {
		return nil, err
	}
	hops, err := s.opt.Agents.Examine(ctx, name, s.publicURL())
	if err != nil {
		return nil, s.agentError(name, err)
	}
	var found []AgentHop
	for _, h := range hops {
		of := AgentHop{Subject: h.Name, Level: "ok", Detail: s.Redact(h.Found)}
		if h.Err != nil {
			of.Level, of.Detail, of.Remedy = "fail", s.safe(h.Err).Error(), h.Remedy
		}
		found = append(found, of)
	}
	return found, nil
}

// publicURL is the address of the pages without a slash at its end; "" when public.url is not set.
func (s *Service) publicURL() string {
	if u := s.opt.Config().PublicURL; u != nil {
		return strings.TrimRight(u.String(), "/")
	}
	return ""
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
	made = AgentToken{Token: text, ExpiresAt: sdk.TimeOf(expires), URL: s.publicURL()}
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
