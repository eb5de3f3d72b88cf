package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/store"
)

// Sessions returns the sessions of logged-in users, the one used last first. The
// error is an ErrForbidden unless a user is logged in.
func (s *Service) Sessions(ctx context.Context, actor auth.Actor) ([]auth.Session, error) {
	if err := allow(actor, auth.Manage, "see sessions"); err != nil {
		return nil, err
	}
	return s.opt.Auth.Sessions(ctx, actor)
}

// EndSession ends a session, of any user. The error is an ErrForbidden unless a
// user is logged in, and an ErrNotFound when there is no such session.
func (s *Service) EndSession(ctx context.Context, actor auth.Actor, id string) error {
	if err := allow(actor, auth.Manage, "end sessions"); err != nil {
		return err
	}
	err := s.opt.Auth.EndSession(ctx, actor, id)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("end session %.20q: %w", id, ErrNotFound)
	}
	return err
}

// EndOtherSessions ends all sessions but the actor's own. The error is an
// ErrForbidden unless a user is logged in.
func (s *Service) EndOtherSessions(ctx context.Context, actor auth.Actor) error {
	if err := allow(actor, auth.Manage, "end sessions"); err != nil {
		return err
	}
	return s.opt.Auth.EndOthers(ctx, actor)
}
