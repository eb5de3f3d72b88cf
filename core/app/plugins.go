package app

import (
	"context"
	"slices"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/metrics"
)

// makePlugins makes what holds the plugins, and the components that are configured of them.
func (a *App) makePlugins(context.Context) (err error) {
	opt, settings := a.opt, a.opt.Config
	a.auth = auth.New(auth.Options{
		Config:  settings,
		Store:   a.store,
		Secrets: opt.Redactor.Add,
		Agent:   opt.UserAgent(),
		Log:     opt.Log,
		Now:     opt.Now,
	})
	a.report(a.auth.Problems())
	a.metrics = metrics.New(opt.Version, metrics.Options{
		Enabled: settings.Prometheus.Enabled,
		WUD:     settings.Prometheus.WUD,
	})
	a.parts.Add(parts.Part{Name: "event counts", Run: a.count})
	a.plugins, a.components, err = parts.NewPlugins(opt.Options, plugin.Options{
		Vars:    wiring.PluginVars(settings, a.wudNames),
		Trust:   a.store,
		Records: a.store,
		Sleep:   settings.Plugins.Sleep,
		Changed: a.pluginChanged,
		Observe: a.metrics.Call,
	}, component.Options{
		MaskAll: settings.Server.MaskAll,
		Changed: func(*component.Component) { a.bus.Touch(event.ComponentChanged) },
		Joined:  a.agents.Names,
		Limits:  a.agents.Limits,
	})
	if err != nil {
		return err
	}
	a.parts.Add(parts.Part{Name: "plugins", Run: a.followPlugins, Close: a.plugins.Close})
	a.installer = &installer{config: settings, trust: a.store, agent: opt.UserAgent(), logins: opt.Logins,
		gallery: opt.Gallery, may: a.mayHold(context.Background()), start: a.startInstalled}
	if opt.Logins != nil { // after what plugins.install names was installed
		a.parts.Add(parts.Part{Name: "newer plugins", Needs: a.configured(), Run: a.lookForPlugins})
	}
	a.reloader = reload.New(settings, a.reloadOptions())
	a.parts.Add(parts.Part{Name: "reload", Run: a.reloadOnRequest})
	a.report(a.layers().Problems(opt.Now()))
	return nil
}

// followPlugins finds the plugins, and has what they hold reloaded when their folder changes, until ctx ends.
func (a *App) followPlugins(ctx context.Context) error {
	if err := a.discover(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	a.plugins.Follow(ctx, func() { a.reloader.Again(ctx) })
	return nil
}

// discover looks for third-party plugins and then completes the components.
func (a *App) discover(ctx context.Context) error {
	a.installPlugins(ctx)
	// Components start as soon as their plugin is known: one that hangs holds up no other.
	if err := a.plugins.DiscoverEach(ctx, func() { a.components.Continue() }); err != nil && ctx.Err() == nil {
		a.log.Error("look for plugins", "error", err)
	}
	a.components.Finish()
	a.components.LogReferences()
	if a.components.Await(ctx) != nil || !a.opt.Strict {
		return nil
	}
	return config.Verdict(slices.Concat(a.opt.Config.Problems, a.installer.Problems(), a.auth.Problems(),
		a.components.Problems()), true)
}

// pluginChanged records what became of a plugin.
func (a *App) pluginChanged(st plugin.Status) {
	asleep := st.State == plugin.Asleep
	a.metrics.Plugin(st.Name, asleep || st.State == plugin.Running, asleep, st.Restarts)
	types := map[plugin.State]event.Type{
		plugin.Running: event.PluginUp, plugin.Backoff: event.PluginDown, plugin.Stopped: event.PluginDown,
		plugin.Broken: event.PluginBroken, plugin.Untrusted: event.PluginBroken, plugin.Rejected: event.PluginBroken,
	}
	t, recorded := types[st.State]
	if !recorded || st.Woken || st.State == plugin.Running && st.Error != "" { // nothing became of its process
		a.bus.Touch(event.PluginChanged)
		return
	}
	e := event.Event{
		At: a.opt.Now(), Type: t, Subject: st.Name,
		Payload: event.Payload{Plugin: &event.Plugin{State: string(st.State), Error: st.Error}},
	}
	if err := a.store.Commit(context.Background(), event.Change{Events: []event.Event{e}}); err != nil {
		a.log.Error("record the state of a plugin", "bundle", st.Name, "error", err)
	}
}
