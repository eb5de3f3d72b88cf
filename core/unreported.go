package core

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
)

const (
	unreportedPage  = 200
	unreportedPages = 50
)

// unreported reads the event log backwards and hands owe, watcher by watcher,
// the containers whose update a check of that container alone found and which
// no check of the whole watcher has reported since: batches still owe them.
func unreported(ctx context.Context, log *store.Store, watchers []string, owe func(watcher string, ids []string)) error {
	open := map[string]bool{}
	for _, w := range watchers {
		open[w] = true
	}
	var before int64
	for range unreportedPages {
		page, err := log.EventsBefore(ctx, before, unreportedPage)
		if err != nil {
			return fmt.Errorf("read what single checks found: %w", err)
		}
		for _, e := range page {
			before = e.ID
			if e.Type != event.CheckFinished || e.Check == nil || !open[e.Check.Watcher] {
				continue
			}
			if e.Check.Single {
				owe(e.Check.Watcher, e.Check.Found)
			} else {
				delete(open, e.Check.Watcher)
			}
		}
		if len(open) == 0 || len(page) < unreportedPage {
			return nil
		}
	}
	return nil
}
