package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/event"
)

// EventLog is what Recover reads of the event log.
type EventLog interface {
	decision.EventLog
	// Outages returns the last event of each watcher that says whether its engine can be reached.
	Outages(ctx context.Context) ([]event.Event, error)
}

// Recover makes the Checker go on from where the event log says that an earlier
// process stopped: the backlog of each of the watchers, and the outages of
// engines. It is called before the first check. What cannot be read is in the
// error and is not recovered; the rest is.
func (c *Checker) Recover(ctx context.Context, log EventLog, watchers []string) error {
	return errors.Join(c.opt.Decisions.Recover(ctx, log, watchers), c.recoverOutages(ctx, log))
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
func (c *Checker) recoverOutage(watcher string, outage event.Outage) {
	c.mu.Lock()
	c.state(watcher).outage = &Outage{Since: outage.Since, Error: outage.Error, Reported: true}
	c.mu.Unlock()
	c.opt.Reached(watcher, errText(outage.Error))
}

// errText is an error of which only the words are known.
type errText string

func (e errText) Error() string { return string(e) }
