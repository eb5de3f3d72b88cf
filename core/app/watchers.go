package app

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// forgetWatchers removes the containers of watchers that are not configured any more.
func (a *App) forgetWatchers(ctx context.Context) {
	known, configured := map[string]bool{}, false
	for _, c := range a.reloader.Current().Components {
		if c.Kind == kind.Watcher {
			known[c.Name] = true
			configured = configured || c.Type != agent.TypeName
		}
	}
	for _, name := range a.agents.Names() {
		known[name] = true
	}
	forget := func(watcher string) bool { return !known[watcher] }
	if !configured {
		// The default watchers keep whatever an earlier configuration left, but for what agents left that are gone.
		forget = func(watcher string) bool { return !known[watcher] && a.agents.Was(watcher) }
	}
	var change event.Change
	for _, r := range a.store.Snapshot().All() {
		if c := r.Container; forget(c.Watcher) {
			change.Remove = append(change.Remove, c.ID)
			change.Events = append(change.Events, event.Event{
				At: a.opt.Now(), Type: event.ContainerRemoved, Subject: event.Subject(c), Payload: event.Payload{Container: &c},
			})
		}
	}
	if len(change.Remove) == 0 {
		return
	}
	if err := a.store.Commit(ctx, change); err != nil {
		a.log.Error("forget the containers of watchers that are not configured any more", "error", err)
	}
}

// watcherNames returns the names of the watchers there will be.
func (a *App) watcherNames() []string {
	var names []string
	for _, c := range a.opt.Config.Components {
		if c.Kind == kind.Watcher {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		return names
	}
	for _, t := range a.plugins.Types(kind.Watcher) {
		if t.DefaultName != "" {
			names = append(names, t.DefaultName)
		}
	}
	return names
}
