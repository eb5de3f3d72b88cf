package decision

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/internal/wake"
)

const (
	// maxWait is how long at most it waits: the clock of the host may be set meanwhile, or stand still.
	maxWait = time.Hour
	// pause is between two attempts for the same time.
	pause = time.Minute
)

// loop has updates decided again whenever it is time.
type loop struct {
	redecide func(ctx context.Context) error
	// next returns the first time that a decision names; zero for never. bus says when decisions may have changed.
	next func() time.Time
	bus  *event.Bus
	wake wake.Signal
	log  hclog.Logger
	now  func() time.Time
}

// run decides at once, as time has passed since the process before, and then whenever
// it is time, until ctx ends. It returns nil.
func (l *loop) run(ctx context.Context) error {
	changed := l.bus.Subscribe()
	defer changed.Close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	next := l.now()    // when to decide
	var last time.Time // when that was done
	failed := false    // whether it did not work out then
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
			next = l.now()
		case <-changed.C():
		case <-timer.C:
		}
		if now := l.now(); !next.IsZero() && !next.After(now) {
			err := l.redecide(ctx)
			if failed = err != nil; failed && ctx.Err() == nil {
				l.log.Error("updates could not be decided again", "error", err)
			}
			last = now
		}
		next = l.next()
		again := last.Add(pause)
		overdue := !next.IsZero() && !next.After(last) && !last.After(l.now()) // the clock was set back, or it failed
		if overdue || failed && (next.IsZero() || next.After(again)) {
			next = again
		}
		timer.Reset(l.wait(next))
	}
}

// wait returns how long to wait until a time, at most maxWait.
func (l *loop) wait(until time.Time) time.Duration {
	if until.IsZero() {
		return maxWait
	}
	return min(max(until.Sub(l.now()), 0), maxWait)
}
