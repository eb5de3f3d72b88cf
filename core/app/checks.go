package app

import (
	"context"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/core/watch/schedule"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// makeChecks makes what finds newer versions, and decides what becomes of them.
func (a *App) makeChecks(ctx context.Context) error {
	opt, settings := a.opt, a.opt.Config
	registries := wiring.Registries{Components: a.components}
	a.choices = decision.NewChoices(decision.ChoiceOptions{
		Store:   a.store,
		Now:     opt.Now,
		Changed: func(ctx context.Context) { a.decisions.RedecideSoon(ctx) },
	})
	a.decisions = decision.New(decision.Options{
		Store:           a.store,
		Candidates:      a.store.Candidates,
		AlreadyNotified: a.store.AlreadyNotified,
		Rules:           a.layers().Rules,
		Facts:           a.facts,
		Choices:         a.choices.Of,
		Link:            func(c *sdk.Container) error { return a.checker.Link(c) },
		Next:            wiring.Containers{Store: a.store}.NextDecision,
		Bus:             &a.bus,
		Log:             opt.Log,
		Now:             opt.Now,
	})
	a.queries = registryquery.New(registryquery.Options{
		Registries:     registries,
		Cache:          a.cache(),
		Limits:         registryquery.Limits{PerHost: settings.Check.PerHost, Total: settings.Check.Total},
		Budget:         wiring.Budget(ctx, settings, a.store, a.log, opt.Now),
		Reports:        registries.Limits,
		Spare:          registries.Limits,
		ReadCandidates: true,
		Decisions:      a.decisions,
		Now:            opt.Now,
	})
	a.checker = check.New(check.Options{
		Queries:       a.queries,
		Decisions:     a.decisions,
		Events:        a.store,
		SaveRequests:  a.store.SaveRequests,
		Labels:        wiring.Labels(settings),
		Triggers:      a.components.TriggerIDs,
		WatchFloating: settings.Check.Floating,
		Order:         a.components.WatcherNames,
		Reached:       a.reached,
		Progressed:    func() { a.bus.Touch(event.CheckProgressed) },
		Log:           opt.Log,
		Now:           opt.Now,
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
	a.dater = registryquery.NewDater(a.queries, a.decisions, opt.Log.Named("check"))
	// Without its configured registry an image would be looked up elsewhere.
	a.parts.Add(parts.Part{Name: "release dates", Needs: a.configured(kind.Registry), Run: a.dater.Run})
	return nil
}

// cache returns what keeps the answers of registries and forges.
func (a *App) cache() wiring.Cache { return wiring.Cache{Store: a.store, Log: a.log} }

// reached notes whether the engine of a watcher answered.
func (a *App) reached(watcher string, err error) {
	if w, known := a.components.WatcherNamed(watcher); known && w.SetReached(err) {
		a.bus.Touch(event.ComponentChanged)
	}
}
