package core

import (
	"context"
	"os"
	"path/filepath"

	"github.com/dogwatch/dogwatch/core/dispatch"
)

// goesOnWithWUD reports whether the installation has the file of What's Up Docker, or is from before Dogwatch had
// names of its own, so that what it has published has those of What's Up Docker.
func (a *App) goesOnWithWUD(ctx context.Context) (bool, error) {
	if _, err := os.Stat(filepath.Join(a.opt.Config.Store.Path, a.opt.Config.WUDFile)); err == nil {
		return true, nil
	}
	return dispatch.Older(ctx, a.store)
}
