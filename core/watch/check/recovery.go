package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	recoveryPage = 200
	// recoveryPages bounds how much of a long log is read at start.
	recoveryPages = 50
)

// EventLog is what Recover reads of the event log.
type EventLog interface {
	// EventsBefore returns up to limit events with ids below before, the newest first; 0 means the end of the log.
	EventsBefore(ctx context.Context, before int64, limit int) ([]event.Event, error)
	// Outages returns the last event of each watcher that says whether its engine can be reached.
	Outages(ctx context.Context) ([]event.Event, error)
}

// Recover makes the Checker go on from where the event log says that an earlier
// process stopped: the backlog of each of the watchers, and the outages of
// engines. It is called before the first check. What cannot be read is in the
// error and is not recovered; the rest is.
func (c *Checker) Recover(ctx context.Context, log EventLog, watchers []string) error {
	return errors.Join(c.recoverBacklog(ctx, log, watchers), c.recoverOutages(ctx, log))
}

// recoverBacklog reads the event log backwards for updates that were found after
// the last check of the whole watcher was stored to its end: by checks of single
// containers, or by a whole one during which the process ended.
func (c *Checker) recoverBacklog(ctx context.Context, log EventLog, watchers []string) error {
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
				c.addToBacklog(*e.Container)
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

// addToBacklog makes the next whole check of a container's watcher report the
// update of the container, as if this process had found it outside of a whole check.
func (c *Checker) addToBacklog(found sdk.Container) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.state(found.Watcher)
	w.backlog = w.backlog.with(backlog{found.ID: found.Name})
}

// recoverOutages goes on from the outages that an earlier process reported.
func (c *Checker) recoverOutages(ctx context.Context, log EventLog) error {
	last, err := log.Outages(ctx)
	if err != nil {
		return fmt.Errorf("read the outages of watchers: %w", err)
	}
	for _, e := range last {
		if e.Type == event.WatcherFailed && e.Watcher != nil {
			c.recoverOutage(e.Subject, *e.Watcher)
		}
	}
	return nil
}

// recoverOutage makes the Checker go on from one outage: there is no second event
// about it, but one when it ends.
func (c *Checker) recoverOutage(watcher string, of event.Watcher) {
	c.mu.Lock()
	c.state(watcher).outage = &Outage{Since: of.Since, Error: of.Error, Reported: true}
	c.mu.Unlock()
	c.opt.Reached(watcher, errText(of.Error))
}

// errText is an error of which only the words are known.
type errText string

func (e errText) Error() string { return string(e) }
