package event

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/backoff"
)

const (
	// tailPage is how many events a Tailer reads at a time.
	tailPage = 200
	// minBackoff is the wait after a first error, which doubles up to maxBackoff with each one that follows.
	minBackoff = time.Second
	maxBackoff = 10 * time.Second
)

// Log is the event log as a Tailer reads it.
type Log interface {
	// LastEvent returns the id of the newest event, 0 when there is none.
	LastEvent(ctx context.Context) (int64, error)
	// Events returns at most limit events whose id is above after, oldest first.
	Events(ctx context.Context, after int64, limit int) ([]Event, error)
}

// TailOptions configure a Tailer.
type TailOptions struct {
	// Log must wake Bus after each commit of events.
	Log Log
	Bus *Bus
	// Handle takes over the next events, at least one, oldest first. After an
	// error it gets them again, unless the stored cursor has moved past them.
	Handle func(ctx context.Context, page []Event) error
	// Cursor returns the id of the last event that was handled, which Handle
	// stores together with what it does. It is read at the start and after each
	// error of Handle, which leaves open what was stored. Without it the cursor
	// is kept in memory, and begins at the newest event.
	Cursor func(ctx context.Context) (int64, error)
	// KeepWithNext, if set, reports that a page may not end with an event, because
	// it is handled together with those that follow it.
	KeepWithNext func(Event) bool
	// Woken, if set, is called by Run after each attempt to catch up, whether or
	// not there was an event and whether or not the log could be read.
	Woken  func()
	Logger hclog.Logger
}

// Tailer follows the event log: it hands over every event once, in the order of
// commits. Its methods must not be called concurrently.
type Tailer struct {
	opt    TailOptions
	cursor int64
	// placed is whether cursor is known.
	placed bool
	// wakes is what Bus.Wakes returned before the log was last read to its end.
	wakes  uint64
	atEnd  bool
	failed int // attempts of Run in a row
}

// NewTailer returns a Tailer. It reads nothing yet.
func NewTailer(opt TailOptions) *Tailer { return &Tailer{opt: opt} }

// Cursor returns the id of the last event that was handed over, or at which the Tailer began.
func (t *Tailer) Cursor() int64 { return t.cursor }

// Reset forgets the cursor: the Tailer begins anew, as its options say.
func (t *Tailer) Reset() { t.placed, t.atEnd = false, false }

// Run hands events over until ctx ends. An error is logged when it first occurs,
// and what failed is tried again with exponential backoff.
func (t *Tailer) Run(ctx context.Context) {
	sub := t.opt.Bus.Subscribe() // before the log is read, so that no commit is missed
	defer sub.Close()
	for {
		err := t.CatchUp(ctx)
		if ctx.Err() != nil {
			return
		}
		pause := t.report(err)
		if t.opt.Woken != nil {
			t.opt.Woken()
		}
		if err == nil {
			err = sub.Wait(ctx)
		} else {
			err = backoff.Wait(ctx, pause)
		}
		if err != nil {
			return
		}
	}
}

// CatchUp hands over all events that are new, and returns at the end of the log.
// It reads nothing if the bus was not woken since it last got there. The error
// is that of the log, of the cursor or of Handle; what was handed over before
// stays handed over.
func (t *Tailer) CatchUp(ctx context.Context) error {
	wakes := t.opt.Bus.Wakes() // before the log is read: what is committed meanwhile is read next time
	if t.atEnd && t.wakes == wakes {
		return nil
	}
	t.atEnd = false
	if err := t.place(ctx); err != nil {
		return err
	}
	for !t.atEnd {
		page, last, err := t.read(ctx)
		if err != nil {
			return fmt.Errorf("read the event log after %d: %w", t.cursor, err)
		}
		if len(page) > 0 {
			if err := t.opt.Handle(ctx, page); err != nil {
				t.placed = t.opt.Cursor == nil
				return err
			}
			t.cursor = page[len(page)-1].ID
		}
		t.atEnd = last
	}
	t.wakes = wakes
	return nil
}

// place finds out where to begin.
func (t *Tailer) place(ctx context.Context) (err error) {
	if t.placed {
		return nil
	}
	if t.opt.Cursor != nil {
		t.cursor, err = t.opt.Cursor(ctx)
	} else {
		t.cursor, err = t.opt.Log.LastEvent(ctx)
	}
	if err != nil {
		return fmt.Errorf("read where to begin in the event log: %w", err)
	}
	t.placed, t.atEnd = true, t.opt.Cursor == nil
	return nil
}

// read returns the next page, and whether the log ends with it.
func (t *Tailer) read(ctx context.Context) (page []Event, last bool, err error) {
	after := t.cursor
	for {
		more, err := t.opt.Log.Events(ctx, after, tailPage)
		if err != nil {
			return nil, false, err
		}
		page = append(page, more...)
		if len(more) < tailPage {
			return page, true, nil
		}
		end := more[len(more)-1]
		if t.opt.KeepWithNext == nil || !t.opt.KeepWithNext(end) {
			return page, false, nil
		}
		after = end.ID
	}
}

// report logs the first error of several in a row, and the end of them. It
// returns how long to wait before the next attempt.
func (t *Tailer) report(err error) time.Duration {
	switch {
	case err == nil && t.failed > 0:
		t.opt.Logger.Info("the event log is followed again", "failed", t.failed)
		t.failed = 0
	case err != nil && t.failed == 0:
		t.opt.Logger.Error("follow the event log", "error", err)
	case err != nil:
		t.opt.Logger.Debug("follow the event log", "error", err, "failed", t.failed)
	}
	if err == nil {
		return 0
	}
	t.failed++
	return backoff.Pauses{First: minBackoff, Longest: maxBackoff}.After(t.failed)
}
