package app

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/update/automatic"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// makeUpdates makes what carries out updates, and what begins those that rules want.
func (a *App) makeUpdates(context.Context) error {
	images := a.images()
	a.updater = updater.New(updater.Options{
		Watchers:        images,
		Registries:      images,
		PullCredentials: a.components.PullCredentialsOf,
		Proposes:        wiring.Triggers{Components: a.components, Labels: wiring.Labels(a.opt.Config)}.Proposes,

		Containers: wiring.Containers{Store: a.store},
		Store:      a.store,
		Bus:        &a.bus,
		Listed: func(ctx context.Context, watcher, id string) error {
			return a.scheduler.WatchOne(ctx, sdk.Container{Watcher: watcher, ID: id})
		},
		Vulnerabilities: a.vulnerabilities,
		AgedDigest:      a.decisions.AgedDigest,
		Major:           a.layers().Advice,
		Labels:          wiring.Labels(a.opt.Config),
		Redact:          a.opt.Redactor.String,
		Log:             a.opt.Log,
		Now:             a.opt.Now,
	})
	// What was interrupted needs its watcher, and the registry of its image. Whether a watcher may update is known
	// once it is configured.
	needs := a.configured(kind.Watcher, kind.Registry)
	a.parts.Add(parts.Part{Name: "updates", Needs: needs, Run: a.updater.Run})
	a.parts.Add(parts.Part{Name: "automatic updates", Needs: needs, Run: a.updateAutomatically})
	return nil
}

// images gives images of registries, and the watchers that pull them.
func (a *App) images() wiring.Updates {
	return wiring.Updates{Components: a.components, Cache: a.cache(), Requests: a.queries}
}

// updateAutomatically begins the updates that are decided to be carried out. Rules, choices
// and windows may be others than when the program stopped, so all is decided again first.
func (a *App) updateAutomatically(ctx context.Context) error {
	if a.decisions.CatchUp(ctx) != nil {
		return nil
	}
	return automatic.New(automatic.Options{
		Containers: wiring.Containers{Store: a.store}.Shared,
		Choices:    a.choices.Of,
		Operations: a.store,
		Updater:    a.updater,
		Scanned:    a.scans.Verdict,
		Decide:     a.decisions.RedecideSoon,
		Bus:        &a.bus,
		Preload:    a.opt.Config.Updates.Preload,
		Follows:    a.follows,
		AtOnce:     a.opt.Config.Updates.AtOnce,
		Redact:     a.opt.Redactor.String,
		Log:        a.opt.Log,
		Now:        a.opt.Now,
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
