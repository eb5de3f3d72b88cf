package app

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// RestartError is why Run has ended when everything is to go on with another configuration.
type RestartError struct{ Config *config.Config }

func (*RestartError) Error() string { return "restarting with another configuration" }

func (a *App) reloadOptions() reload.Options {
	return reload.Options{
		Read:       a.opt.Reload,
		Strict:     a.opt.Strict,
		Components: a.components,
		Schema:     wiring.Schema(a.plugins),
		Check: func(c *config.Config) []config.Problem {
			logins := auth.New(auth.Options{
				Config: c,
				Log:    hclog.NewNullLogger(),
				Now:    a.opt.Now,
			})
			return append(logins.Problems(), decision.LayersOf(c).Problems(a.opt.Now())...)
		},
		Applied: a.applied,
		Restart: func(next *config.Config) {
			select {
			case a.restarts <- next:
			default: // the one before restarts everything already
			}
		},
		Audit: func(ctx context.Context, e event.Event) {
			if err := a.store.Commit(ctx, event.Change{Events: []event.Event{e}}); err != nil {
				a.log.Error("record that the configuration was reloaded", "error", err)
			}
		},
		Redact: a.opt.Redactor.String,
		Log:    a.opt.Log,
		Now:    a.opt.Now,
	}
}

// applied has every part go on with other components, and rules.
func (a *App) applied(ctx context.Context, _ *config.Config, changes component.Changes) {
	a.streams.Renew()
	a.scheduler.Renew(ctx)
	a.forgetWatchers(ctx)
	a.decisions.RedecideSoon(ctx)
	a.dispatcher.Wake()
	if changes.Any() {
		a.bus.Touch(event.ComponentChanged)
	}
}

// reloadOnRequest reloads the configuration at each signal to do so, and ends with a
// RestartError when everything is to restart.
func (a *App) reloadOnRequest(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case next := <-a.restarts:
			return &RestartError{Config: next}
		case <-a.opt.Hangups:
			// Mistakes are logged, and change nothing.
			if _, err := a.reloader.Reload(ctx, reload.Actor{User: "SIGHUP"}); err != nil && ctx.Err() == nil {
				a.log.Error("reload the configuration", "error", err)
			}
		}
	}
}
