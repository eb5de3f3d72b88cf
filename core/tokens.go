package core

import (
	"context"
	"errors"
	"io/fs"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// WithTokens opens the database and hands over what looks after tokens. It works
// whether or not a Dogwatch is serving from that store: whoever may write the
// file may make tokens. A database of an older version is left as it is.
func WithTokens(ctx context.Context, settings *config.Config, use func(*auth.Auth) error) error {
	s, err := store.Open(ctx, storeFile(settings), store.Options{AsIs: true})
	if err != nil {
		return err
	}
	a := auth.New(auth.Options{Config: settings, Store: s, Log: hclog.NewNullLogger()})
	return errors.Join(use(a), s.Close())
}

// Tokens returns the tokens of an installation, the newest first, without
// changing anything. Without a database there are none.
func Tokens(ctx context.Context, settings *config.Config) ([]store.Token, error) {
	return recorded(ctx, settings, (*store.Reader).Tokens)
}

// Containers returns the containers that an installation has recorded, without
// changing anything. Without a database there are none.
func Containers(ctx context.Context, settings *config.Config) ([]sdk.Container, error) {
	return recorded(ctx, settings, (*store.Reader).Containers)
}

// recorded reads from the database of an installation.
func recorded[T any](ctx context.Context, settings *config.Config, read func(*store.Reader, context.Context) ([]T, error)) ([]T, error) {
	s, err := store.Read(ctx, storeFile(settings))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := read(s, ctx)
	return all, errors.Join(err, s.Close())
}
