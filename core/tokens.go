package core

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/store"
)

// WithTokens opens the database and hands over what looks after tokens. It works
// whether or not a Dogwatch is serving from that store: whoever may write the
// file may make tokens.
func WithTokens(ctx context.Context, settings *config.Config, use func(*auth.Auth) error) error {
	s, err := store.Open(ctx, storeFile(settings), store.Options{})
	if err != nil {
		return err
	}
	a := auth.New(auth.Options{Config: settings, Store: s, Log: hclog.NewNullLogger()})
	return errors.Join(use(a), s.Close())
}
