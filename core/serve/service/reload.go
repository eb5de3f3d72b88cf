package service

import (
	"context"

	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// Reloader reloads the configuration; see reload.Reloader.
type Reloader interface {
	Preview(ctx context.Context) (reload.Result, error)
	Reload(ctx context.Context, by reload.Actor) (reload.Result, error)
}

// PreviewReload returns what ReloadConfiguration would do now; reload.ErrUnsupported when
// there is nothing to read.
func (s *Service) PreviewReload(ctx context.Context, actor auth.Actor) (reload.Result, error) {
	if err := allow(actor, auth.Write, "compare the configuration"); err != nil {
		return reload.Result{}, err
	}
	if s.opt.Reloader == nil {
		return reload.Result{}, reload.ErrUnsupported
	}
	return s.opt.Reloader.Preview(ctx)
}

// ReloadConfiguration reads the configuration and applies what differs. A configuration
// with mistakes changes nothing, which the result says. It is recorded who wanted it.
func (s *Service) ReloadConfiguration(ctx context.Context, actor auth.Actor) (reload.Result, error) {
	if err := allow(actor, auth.Write, "reload the configuration"); err != nil {
		return reload.Result{}, err
	}
	if s.opt.Reloader == nil {
		return reload.Result{}, reload.ErrUnsupported
	}
	return s.opt.Reloader.Reload(ctx, reload.Actor{User: actor.User, Address: actor.ClientAddress()})
}
