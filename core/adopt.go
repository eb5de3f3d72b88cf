package core

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/core/wudstore"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// wudSource is the mark of the import in the store.
const wudSource = "wud.json"

// adopt takes over, once, what What's Up Docker left in the store folder: its
// containers, and which of their updates it told people of. A file that cannot
// be used is reported and left to the operator, as it is; Dogwatch starts all the same.
func (a *App) adopt(ctx context.Context) {
	done, err := a.store.Imported(ctx, wudSource)
	if err != nil {
		a.log.Error("look for what was imported", "error", err)
		return
	}
	if done {
		return
	}
	found, err := wudstore.Read(filepath.Join(a.opt.Config.Store.Path, a.opt.Config.WUDFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		a.log.Warn("nothing is imported from What's Up Docker, so updates that it told of are told again: "+
			"mend the file, or move it away, and start again", "error", err)
		return
	}
	containers, told := adopted(found.Containers, a.watcherNames())
	if _, err := a.store.Import(ctx, wudSource, containers, told); err != nil {
		a.log.Error("import from What's Up Docker; the next start tries again", "error", err)
		return
	}
	a.log.Info("imported from What's Up Docker, whose file stays as it is", "version", found.Version, "containers", len(containers), "told", len(told))
	if found.LeftOut > 0 {
		a.log.Warn("left out what is no container in the file of What's Up Docker", "records", found.LeftOut)
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

// adopted returns the containers of the watchers that are configured now, and
// what was told about all of them: a container keeps its id whoever watches it.
// When both programs have one watcher, it is the same one under whatever name.
func adopted(all []sdk.Container, watchers []string) (containers []sdk.Container, told []update.Notified) {
	renamed := len(watchers) == 1 && !slices.ContainsFunc(all, func(c sdk.Container) bool { return c.Watcher != all[0].Watcher })
	for _, c := range all {
		if renamed {
			c.Watcher = watchers[0]
		}
		if c.UpdateAvailable {
			told = append(told, update.Notified{Container: c.ID, Subject: event.Subject(c), Tag: c.Image.Tag.Value, Remote: c.UpdateKind.RemoteValue})
		}
		if slices.Contains(watchers, c.Watcher) {
			containers = append(containers, c)
		}
	}
	return containers, told
}
