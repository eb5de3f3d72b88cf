package app

import (
	"context"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/core/watch/releasedate"
	"github.com/dogwatch/dogwatch/core/watch/schedule"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// makeChecks makes what finds newer versions, and decides what becomes of them.
func (a *App) makeChecks(ctx context.Context) error {
	opt := a.opt
	a.choices = choice.New(choice.Options{
		Store:   a.store,
		Now:     opt.Now,
		Changed: func(ctx context.Context) { a.decisions.RedecideSoon(ctx) },
	})
	a.decisions, a.queries, a.checker = parts.NewChecks(opt.Options, a.components, decision.Options{
		Store:           a.store,
		Candidates:      a.store.Candidates,
		AlreadyNotified: a.store.AlreadyNotified,
		Rules:           a.layers().Rules,
		Facts:           a.facts,
		Choices:         a.choices.Of,
		Next:            wiring.Containers{Store: a.store}.NextDecision,
		Bus:             &a.bus,
	}, registryquery.Options{
		Cache:  a.cache(),
		Budget: wiring.Budget(ctx, opt.Config, a.store, a.log, opt.Now),
	}, check.Options{
		Events:       a.store,
		SaveRequests: a.store.SaveRequests,
		Triggers:     a.components.TriggerIDs,
		Reached:      a.reached,
		Progressed:   func() { a.bus.Touch(event.CheckProgressed) },
	})
	a.scheduler = schedule.NewScheduler(a.components, a.checker, opt.Log)
	a.parts.Add(parts.Part{
		Name: "checks",
		Run:  a.scheduler.Run,
		// What was counted of requests since the last check is kept.
		Close: func() { a.checker.SaveRequests(context.Background()) },
	})
	// The rules of a container depend on its watcher.
	a.parts.Add(parts.Part{Name: "decisions", Needs: a.configured(kind.Watcher), Run: a.decisions.Run})
	a.dates = releasedate.New(a.queries, a.decisions, opt.Log.Named("check"))
	// Without its configured registry an image would be looked up elsewhere.
	a.parts.Add(parts.Part{Name: "release dates", Needs: a.configured(kind.Registry), Run: a.dates.Run})
	return nil
}

// cache returns what keeps the answers of registries and forges.
func (a *App) cache() wiring.Cache { return wiring.Cache{Store: a.store, Log: a.log} }

// reached notes whether the engine of a watcher answered.
func (a *App) reached(watcher string, err error) {
	if w, known := a.components.WatcherNamed(watcher); known && w.SetReached(a.opt.Now(), err) {
		a.bus.Touch(event.ComponentChanged)
	}
}
