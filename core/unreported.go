package core

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	unreportedPage  = 200
	unreportedPages = 50
)

// unreported reads the event log backwards and hands owe the containers of the
// watchers whose update was found since a check of the whole watcher was last
// stored to its end: by checks of single containers, or by a whole one during
// which Dogwatch was stopped. Batches still owe them.
func unreported(ctx context.Context, log *store.Store, watchers []string, owe func(sdk.Container)) error {
	open := map[string]bool{}
	for _, w := range watchers {
		open[w] = true
	}
	var before int64
	for range unreportedPages {
		page, err := log.EventsBefore(ctx, before, unreportedPage)
		if err != nil {
			return fmt.Errorf("read what no batch has told of: %w", err)
		}
		for _, e := range page {
			before = e.ID
			switch {
			case e.Type == event.UpdateFound && e.Container != nil && open[e.Container.Watcher]:
				owe(*e.Container)
			case e.Type == event.CheckFinished && e.Check != nil && !e.Check.Single:
				delete(open, e.Check.Watcher)
			}
		}
		if len(open) == 0 || len(page) < unreportedPage {
			return nil
		}
	}
	return nil
}
