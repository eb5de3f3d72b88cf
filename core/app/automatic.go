package app

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/update/automatic"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// updateAutomatically begins the updates that are decided to be carried out. Rules, choices
// and windows may be others than when the program stopped, so all is decided again first.
func (a *App) updateAutomatically(ctx context.Context) error {
	// Whether a watcher may update is known once it is configured; without its registry no image is found.
	if a.components.Await(ctx, kind.Watcher, kind.Registry) != nil {
		return nil
	}
	if a.decisions.CatchUp(ctx) != nil {
		return nil
	}
	return automatic.New(automatic.Options{
		Containers: wiring.Containers{Store: a.store}.Shared, Choices: a.choices.Of, Operations: a.store,
		Updater: a.updater, Scanned: func(c *sdk.Container) automatic.Verdict { return automatic.Verdict(a.scans.Verdict(c)) },
		Decide: a.decisions.RedecideSoon, Bus: &a.bus,
		Preload: a.opt.Config.Updates.Preload, Follows: a.follows,
		AtOnce: a.opt.Config.Updates.AtOnce, Redact: a.opt.Redactor.String, Log: a.opt.Log, Now: a.opt.Now,
	}).Run(ctx)
}

// follows reports whether the update of a container is carried out by itself at a time, if nothing changes until then.
func (a *App) follows(ctx context.Context, c *sdk.Container, at time.Time) bool {
	follows, err := a.decisions.Follows(ctx, c, at)
	if err != nil {
		a.log.Warn("read what was found for a container", "container", c.Name, "error", err)
	}
	return follows
}
