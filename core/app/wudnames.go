package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/dogwatch/dogwatch/core/app/migrate/wudstore"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// namesTaken is the mark in the store that something is published under the names of What's Up Docker.
const namesTaken = "names of wud"

// keepsWUDNames reports whether the installation publishes under the names of What's Up Docker: it has a variable or
// the file of it, imported that file, or has published under these names before. What is published keeps its names
// when variables are renamed and the file goes, since others rely on them.
func (a *App) keepsWUDNames(ctx context.Context) (bool, error) {
	published, err := a.store.Imported(ctx, namesTaken)
	if err != nil || published {
		return published, err
	}
	keeps, err := a.comesFromWUD(ctx)
	if err == nil && keeps && slices.ContainsFunc(a.opt.Config.Components, publishesNames) {
		_, err = a.store.Import(ctx, namesTaken, nil, nil)
	}
	return keeps, err
}

// publishesNames reports whether a component publishes topics and entities, which begin with the program's name.
func publishesNames(c config.Component) bool { return c.Kind == kind.Trigger && c.Type == "mqtt" }

// comesFromWUD reports whether the installation has a variable or the file of What's Up Docker, imported that file, or
// is from before Dogwatch had names of its own.
func (a *App) comesFromWUD(ctx context.Context) (bool, error) {
	if a.opt.Config.FromWUD {
		return true, nil
	}
	if _, err := os.Stat(filepath.Join(a.opt.Config.Store.Path, a.opt.Config.WUDFile)); err == nil {
		return true, nil
	}
	if imported, err := wudstore.Imported(ctx, a.store); err != nil || imported {
		return imported, err
	}
	return dispatch.Older(ctx, a.store)
}

// importWUD takes over, once, what What's Up Docker left in the store folder.
func (a *App) importWUD(ctx context.Context) error {
	wudstore.Import(ctx, a.store, filepath.Join(a.opt.Config.Store.Path, a.opt.Config.WUDFile), a.watcherNames, a.log)
	return nil
}
