package decision

import (
	"context"
	"fmt"
	"maps"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// backlog has updates that are stored and that no check of the whole watcher has
// reported: they are pending for triggers in batch mode. They were found by checks
// of single containers, or by a whole one that has not ended, or never did. The
// names of the containers are kept by their ids.
type backlog map[string]string

// backlogOf returns the updates that events announce.
func backlogOf(events []event.Event) backlog {
	found := backlog{}
	for _, e := range events {
		if e.Type == event.UpdateFound && e.Container != nil {
			found[e.Container.ID] = e.Container.Name
		}
	}
	return found
}

// with returns both together.
func (b backlog) with(more backlog) backlog {
	all := maps.Clone(b)
	if all == nil {
		all = backlog{}
	}
	maps.Copy(all, more)
	return all
}

// has reports whether the update of a container is in the backlog. A container that was renamed
// or recreated since then is the same.
func (b backlog) has(c *sdk.Container) bool {
	if _, same := b[c.ID]; same {
		return true
	}
	for _, name := range b {
		if name == c.Name {
			return true
		}
	}
	return false
}

// reported notes what was stored, and whether a check of the whole watcher ended with it. The caller holds commitLock.
func (d *Decisions) reported(watcher string, found backlog, checkedAll bool) {
	if checkedAll {
		delete(d.backlogs, watcher)
		return
	}
	d.backlogs[watcher] = d.backlogs[watcher].with(found)
}

// addToBacklog makes the next whole check of a container's watcher report the
// update of the container, as if this process had found it outside of a whole check. The caller holds commitLock.
func (d *Decisions) addToBacklog(c sdk.Container) {
	d.reported(c.Watcher, backlog{c.ID: c.Name}, false)
}

const (
	recoveryPage = 200
	// recoveryPages bounds how much of a long log is read at start.
	recoveryPages = 50
)

// EventLog is what Recover reads of the event log.
type EventLog interface {
	// EventsBefore returns up to limit events with ids below before, the newest first; 0 means the end of the log.
	EventsBefore(ctx context.Context, before int64, limit int) ([]event.Event, error)
}

// Recover reads the event log backwards for updates that were found after
// the last check of the whole watcher was stored to its end: by checks of single
// containers, or by a whole one during which the process ended. It is called before the first check.
func (d *Decisions) Recover(ctx context.Context, log EventLog, watchers []string) error {
	d.commitLock.Lock()
	defer d.commitLock.Unlock()
	open := map[string]bool{}
	for _, w := range watchers {
		open[w] = true
	}
	var before int64
	for range recoveryPages {
		page, err := log.EventsBefore(ctx, before, recoveryPage)
		if err != nil {
			return fmt.Errorf("read which updates no batch has reported: %w", err)
		}
		for _, e := range page {
			before = e.ID
			switch {
			case e.Type == event.UpdateFound && e.Container != nil && open[e.Container.Watcher]:
				d.addToBacklog(*e.Container)
			case e.Type == event.CheckFinished && e.Check != nil && !e.Check.Single:
				delete(open, e.Check.Watcher)
			}
		}
		if len(open) == 0 || len(page) < recoveryPage {
			return nil
		}
	}
	return nil
}
