package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/store"
)

// Tokens returns the API tokens, the newest first, without their hashes. The
// error is an ErrForbidden unless a user is logged in.
func (s *Service) Tokens(ctx context.Context, actor auth.Actor) ([]store.Token, error) {
	if err := allow(actor, auth.Manage, "see tokens"); err != nil {
		return nil, err
	}
	all, err := s.opt.Auth.Tokens(ctx)
	for i := range all {
		all[i].Hash = nil
	}
	return all, err
}

// CreateToken makes a token of scope "read" or "write" and returns its secret,
// which cannot be found out again. The zero time of expires stands for never. The
// error is an ErrForbidden unless a user is logged in, and an *sdk.InvalidError
// when one of the values makes no sense.
func (s *Service) CreateToken(
	ctx context.Context, actor auth.Actor, name, scope string, expires time.Time,
) (secret string, created store.Token, err error) {
	if err := allow(actor, auth.Manage, "create tokens"); err != nil {
		return "", created, err
	}
	secret, created, err = s.opt.Auth.CreateToken(ctx, actor, auth.NewToken{
		Name: name, Scope: map[string]auth.Scope{"read": auth.Read, "write": auth.Write}[scope], Expires: expires,
	})
	created.Hash = nil
	return secret, created, s.safe(err)
}

// RevokeToken ends a token at once. The error is an ErrForbidden unless a user is
// logged in, and an ErrNotFound when there is no such token.
func (s *Service) RevokeToken(ctx context.Context, actor auth.Actor, id int64) error {
	if err := allow(actor, auth.Manage, "revoke tokens"); err != nil {
		return err
	}
	err := s.opt.Auth.RevokeToken(ctx, actor, id)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("revoke token %d: %w", id, ErrNotFound)
	}
	return err
}
