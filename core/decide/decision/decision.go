// Package decision has updates decided again when the time has come for that: when a
// window opens or closes, a version is old enough, a snooze ends. It sleeps until then.
package decision

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
)

const (
	// maxSleep is how long at most it sleeps: the clock of the host may be set meanwhile, or stand still.
	maxSleep = time.Hour
	// pause is between two attempts for the same time.
	pause = time.Minute
)

// Options are what a Loop needs.
type Options struct {
	// Redecide decides all updates again; see check.Checker.
	Redecide func(ctx context.Context) error
	// Next returns the first time that a decision names; zero for never.
	Next func() time.Time
	// Bus says when decisions may have changed.
	Bus *event.Bus
	Log hclog.Logger
	Now func() time.Time
}

// Loop has updates decided again while Run runs.
type Loop struct {
	opt  Options
	log  hclog.Logger
	wake chan struct{}
}

// New returns a Loop.
func New(opt Options) *Loop {
	return &Loop{opt: opt, log: opt.Log.Named("decision"), wake: make(chan struct{}, 1)}
}

// Wake has updates decided at once, as rules or what users chose have changed. It never blocks.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default: // it has been said
	}
}

// Run decides at once, as time has passed since the process before, and then whenever
// it is time, until ctx ends. It returns nil.
func (l *Loop) Run(ctx context.Context) error {
	changed := l.opt.Bus.Subscribe()
	defer changed.Close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	next := l.opt.Now() // when to decide
	var last time.Time  // when that was done
	failed := false     // whether it did not work out then
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
			next = l.opt.Now()
		case <-changed.C():
		case <-timer.C:
		}
		if now := l.opt.Now(); !next.IsZero() && !next.After(now) {
			err := l.opt.Redecide(ctx)
			if failed = err != nil; failed && ctx.Err() == nil {
				l.log.Error("updates could not be decided again", "error", err)
			}
			last = now
		}
		next = l.opt.Next()
		again := last.Add(pause)
		overdue := !next.IsZero() && !next.After(last) && !last.After(l.opt.Now()) // the clock was set back, or it failed
		if overdue || failed && (next.IsZero() || next.After(again)) {
			next = again
		}
		timer.Reset(l.sleep(next))
	}
}

// sleep returns for how long to sleep until a time, at most maxSleep.
func (l *Loop) sleep(until time.Time) time.Duration {
	if until.IsZero() {
		return maxSleep
	}
	return min(max(until.Sub(l.opt.Now()), 0), maxSleep)
}
