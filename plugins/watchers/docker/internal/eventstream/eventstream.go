// Package eventstream follows the event stream of an engine across its ends: it connects again, requests the events
// since the last one, and leaves out those that an engine repeats. What comes in is an engine and what to do with an
// event; what goes out are the events of a watcher. The watchers of this plugin import it.
package eventstream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	progress = time.Minute
	// MaxEvent bounds one event document, in bytes; labels of a container are part of it.
	MaxEvent = 4 << 20
)

// Follower follows the events of one kind of object.
type Follower struct {
	Engine *engine.Engine
	// Kind is the kind of the objects, "container" or "service", and Actions those of their actions that matter.
	Kind    string
	Actions []string
	Log     hclog.Logger
	// Pause waits before the next attempt; attempt counts those in a row, from 1: backoff.Reconnect.
	Pause func(ctx context.Context, attempt int) error
	// Missed returns what the host has to learn before a stream, which is open already so that nothing falls
	// between the two. gap is true for all but the first stream.
	Missed func(ctx context.Context, gap bool) ([]watcher.Event, error)
	// Handle has an event that was not seen before.
	Handle func(ctx context.Context, e Document, emit func(watcher.Event))
}

// Follow calls emit for what happens until ctx ends, and returns then with its error. It reconnects by itself and
// requests the events since the last one it saw; what an engine does not remember, as after a restart, is for Missed.
//
// It returns an ErrUnsupported when the engine has no events at all. A socket proxy
// that forbids them gets another request from time to time: its settings may change.
func (f Follower) Follow(ctx context.Context, emit func(watcher.Event)) error {
	r := reader{Follower: f, emit: emit}
	for attempt := 1; ; attempt++ {
		err := r.read(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case engine.HasNoEvents(err):
			return sdk.WithKind(sdk.ErrUnsupported, err)
		case r.opened: // streams end for no reason: proxies cut what is idle
			f.Log.Debug("event stream ended, connecting again", "error", err)
		case !r.down:
			r.down = true
			f.Log.Warn("no events from the engine, trying again until there are", "error", err)
			if r.ever && errors.Is(err, sdk.ErrUnavailable) {
				// the host finds out that the engine is gone
				r.emit(watcher.Event{Action: watcher.ActionChanged, At: sdk.TimeOf(time.Now())})
			}
		default:
			f.Log.Debug("still no events from the engine", "error", err, "attempt", attempt)
		}
		if r.progress {
			attempt = 1
		}
		if err := f.Pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// reader reads one event stream after the other.
type reader struct {
	Follower
	emit func(watcher.Event)

	opened   bool                  // the last attempt gave a stream
	progress bool                  // that stream had an event, or lasted for progress
	again    bool                  // it is not the first attempt
	ever     bool                  // some attempt gave a stream
	down     bool                  // it is logged that there are no events
	last     time.Time             // of the newest event, on the engine's clock
	seen     map[Document]struct{} // the events of that instant, which the engine will repeat
}

// Document is one of the stream, as far as it matters.
type Document struct {
	Type     string
	Action   string
	Actor    struct{ ID string }
	TimeNano int64
	Time     int64
}

// At is when it happened, on the engine's clock.
func (e Document) At() time.Time {
	if e.TimeNano == 0 {
		return time.Unix(e.Time, 0)
	}
	return time.Unix(0, e.TimeNano)
}

// read reads one stream to its end. A nil error is a stream that ended by itself.
func (r *reader) read(ctx context.Context) error {
	r.opened, r.progress = false, false
	defer func() { r.again = true }()
	stream, err := r.Engine.Events(ctx, r.Kind, r.last, r.Actions)
	if err != nil {
		return err
	}
	defer stream.Close()
	r.opened, r.ever = true, true
	if r.down {
		r.down = false
		r.Log.Info("events from the engine again")
	}
	since := time.Now()
	defer func() { r.progress = r.progress || time.Since(since) >= progress }()
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	if r.last.IsZero() {
		r.Log.Debug("following events")
	} else {
		r.Log.Debug("following events", "since", r.last)
	}
	lines := bufio.NewReader(stream)
	for {
		line, err := readLine(lines)
		r.documents(ctx, line)
		switch {
		case errors.Is(err, errTooLong):
			r.Log.Debug("an event is too long and left out", "limit", MaxEvent)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read events: %w", err)
		}
	}
}

// catchUp notifies the host of what it missed before the stream.
func (r *reader) catchUp(ctx context.Context) error {
	missed, err := r.Missed(ctx, r.again)
	for _, e := range missed {
		r.emit(e)
	}
	return err
}

var errTooLong = errors.New("line is too long")

// readLine returns the next line, or errTooLong after skipping one of more than
// MaxEvent bytes. With another error it returns what there was of the line.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > MaxEvent {
			tooLong, line = true, nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil && tooLong:
			return nil, errTooLong
		}
		return line, err
	}
}

// documents handles the events of one line. Engines write one per line, but a proxy
// may join lines. The rest of a line is skipped from what is no event.
func (r *reader) documents(ctx context.Context, line []byte) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	for {
		var e Document
		err := decoder.Decode(&e)
		var badType *json.UnmarshalTypeError
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.As(err, &badType): // the decoder is after the document
			r.Log.Debug("an event cannot be read and is left out", "error", err)
			continue
		case err != nil:
			r.Log.Debug("part of the event stream cannot be read and is left out", "error", err)
			return
		}
		if r.fresh(e) {
			r.progress = true
			r.Handle(ctx, e, r.emit)
		}
	}
}

// fresh reports whether an event has not been seen before, and records it.
func (r *reader) fresh(e Document) bool {
	if e.Actor.ID == "" || (e.Type != "" && e.Type != r.Kind) {
		return false
	}
	if _, repeated := r.seen[e]; repeated {
		return false
	}
	if when := e.At(); when.After(r.last) {
		r.last, r.seen = when, map[Document]struct{}{}
	}
	if e.At().Equal(r.last) {
		r.seen[e] = struct{}{}
	}
	return true
}
