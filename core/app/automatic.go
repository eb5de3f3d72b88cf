package app

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/update/automatic"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// redecidePause is the wait after the store could not be read or written at the start.
const redecidePause = 10 * time.Second

// updateAutomatically begins the updates that are decided to be carried out. Rules, choices
// and windows may be others than when the program stopped, so all is decided again first.
func (a *App) updateAutomatically(ctx context.Context) error {
	// Whether a watcher may update is known once it is configured; without its registry no image is found.
	if a.components.Await(ctx, kind.Watcher, kind.Registry) != nil {
		return nil
	}
	for {
		err := a.decisions.Redecide(ctx)
		if err == nil {
			break
		}
		if ctx.Err() == nil {
			a.log.Error("decide again what becomes of updates", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(redecidePause):
		}
	}
	return automatic.New(automatic.Options{
		Containers: wiring.Containers{Store: a.store}.Shared, Choices: a.choices.Of, Operations: a.store,
		Updater: a.updater, Scanned: a.scanned(), Decide: a.decideAgain, Bus: &a.bus,
		Preload: a.opt.Config.Updates.Preload, Follows: a.follows,
		AtOnce: a.opt.Config.Updates.AtOnce, Redact: a.opt.Redactor.String, Log: a.opt.Log, Now: a.opt.Now,
	}).Run(ctx)
}

// follows reports whether the update of a container is carried out by itself at a time, if nothing changes until then.
func (a *App) follows(ctx context.Context, c *sdk.Container, at time.Time) bool {
	found, err := a.store.Candidates(ctx)
	if err != nil {
		a.log.Warn("read what was found for a container", "container", c.Name, "error", err)
		return false
	}
	subject := event.Subject(*c)
	offer := policy.Update{Subject: subject, Candidates: found[subject].Candidates}
	d := policy.Decide(offer, a.rules().Rules(*c), a.updateFacts(*c), a.choices.Of(subject), at)
	return d.State == policy.Automatic && candidateKey(c, offer.Candidates[d.Target]).SameTarget(update.KeyOf(c))
}
