package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// listActions are the actions of containers after which the engine's list is another
// one. Podman removes where Docker destroys.
var listActions = []string{"create", "destroy", "remove", "rename"}

// statusActions are those after which the status of a container may be another one.
// Podman 4 sends "die", while its filter accepts the participle only; when it is
// done with a container that has ended, it sends "cleanup".
var statusActions = []string{"start", "stop", "die", "died", "cleanup", "pause", "unpause", "update"}

const (
	minBackoff = time.Second
	maxBackoff = time.Minute
	// maxEvent bounds one event document; labels of a container are part of it.
	maxEvent = 4 << 20
)

// Watch calls emit for what happens to containers until ctx ends, and returns then
// with its error. It reconnects by itself, requests the events since the last one
// it saw, and compares the engine's list with what the host knows, because an engine
// remembers few events and none after a restart.
//
// It returns an ErrUnsupported when the engine has no events at all. A socket proxy
// that forbids them gets another request from time to time: its settings may change.
func (d *Docker) Watch(ctx context.Context, emit func(watcher.Event)) error {
	r := eventReader{docker: d, emit: emit, log: d.log}
	for attempt := 1; ; attempt++ {
		err := r.read(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case engine.HasNoEvents(err):
			return sdk.WithKind(sdk.ErrUnsupported, err)
		case r.opened: // streams end for no reason: proxies cut what is idle
			d.log.Debug("event stream ended, connecting again", "error", err)
		case !r.down:
			r.down = true
			d.log.Warn("no events from the engine, trying again until there are", "error", err)
			if r.ever && errors.Is(err, sdk.ErrUnavailable) {
				// the host finds out that the engine is gone
				r.emit(watcher.Event{Action: watcher.ActionChanged, At: sdk.TimeOf(time.Now())})
			}
		default:
			d.log.Debug("still no events from the engine", "error", err, "attempt", attempt)
		}
		if r.progress {
			attempt = 1
		}
		if err := d.pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// pauseBefore waits before the next attempt: about 1 s, doubled with every attempt in a
// row, at most about a minute. Jitter keeps many clients of a restarted engine apart.
func pauseBefore(ctx context.Context, attempt int) error {
	pause := backoff.Pauses{First: minBackoff, Longest: maxBackoff}.After(attempt)
	return backoff.Sleep(ctx, pause/2+rand.N(pause))
}

// eventReader reads one event stream after the other.
type eventReader struct {
	docker *Docker
	emit   func(watcher.Event)
	log    hclog.Logger

	opened   bool               // the last attempt gave a stream
	progress bool               // that stream had an event, or lasted for maxBackoff
	again    bool               // it is not the first attempt
	ever     bool               // some attempt gave a stream
	down     bool               // it is logged that there are no events
	last     time.Time          // of the newest event, on the engine's clock
	seen     map[event]struct{} // the events of that instant, which the engine will repeat
}

// event is one document of the stream, as far as it matters.
type event struct {
	Type     string
	Action   string
	Actor    struct{ ID string }
	TimeNano int64
	Time     int64
}

func (e event) at() time.Time {
	if e.TimeNano == 0 {
		return time.Unix(e.Time, 0)
	}
	return time.Unix(0, e.TimeNano)
}

// read reads one stream to its end. A nil error is a stream that ended by itself.
func (r *eventReader) read(ctx context.Context) error {
	r.opened, r.progress = false, false
	defer func() { r.again = true }()
	stream, err := r.docker.engine.Events(ctx, r.last, slices.Concat(listActions, statusActions))
	if err != nil {
		return err
	}
	defer stream.Close()
	r.opened, r.ever = true, true
	if r.down {
		r.down = false
		r.log.Info("events from the engine again")
	}
	since := time.Now()
	defer func() { r.progress = r.progress || time.Since(since) >= maxBackoff }()
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	r.log.Debug("following events", "since", r.last)
	lines := bufio.NewReader(stream)
	for {
		line, err := readLine(lines)
		r.documents(ctx, line)
		switch {
		case errors.Is(err, errTooLong):
			r.log.Debug("an event is too long and left out", "limit", maxEvent)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read events: %w", err)
		}
	}
}

// catchUp notifies the host of what it missed before the stream, which is open
// already, so that nothing falls between the two.
func (r *eventReader) catchUp(ctx context.Context) error {
	containers, err := r.docker.containers(ctx)
	if err != nil {
		return err
	}
	for _, e := range r.docker.notified.missed(containers, r.again) {
		r.emit(e)
	}
	return nil
}

var errTooLong = errors.New("line is too long")

// readLine returns the next line, or errTooLong after skipping one of more than
// maxEvent bytes. With another error it returns what there was of the line.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > maxEvent {
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
func (r *eventReader) documents(ctx context.Context, line []byte) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	for {
		var e event
		err := decoder.Decode(&e)
		var badType *json.UnmarshalTypeError
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.As(err, &badType): // the decoder is after the document
			r.log.Debug("an event cannot be read and is left out", "error", err)
			continue
		case err != nil:
			r.log.Debug("part of the event stream cannot be read and is left out", "error", err)
			return
		}
		if r.fresh(e) {
			r.progress = true
			r.handle(ctx, e)
		}
	}
}

// fresh reports whether an event has not been seen before, and records it.
func (r *eventReader) fresh(e event) bool {
	if e.Actor.ID == "" || (e.Type != "" && e.Type != "container") {
		return false
	}
	if _, repeated := r.seen[e]; repeated {
		return false
	}
	if when := e.at(); when.After(r.last) {
		r.last, r.seen = when, map[event]struct{}{}
	}
	if e.at().Equal(r.last) {
		r.seen[e] = struct{}{}
	}
	return true
}

func (r *eventReader) handle(ctx context.Context, e event) {
	out := watcher.Event{ContainerID: e.Actor.ID, Action: watcher.ActionChanged, At: sdk.TimeOf(e.at())}
	switch {
	case slices.Contains(listActions, e.Action):
		r.emit(out)
		return
	case !slices.Contains(statusActions, e.Action):
		return
	}
	got, err := r.docker.engine.Container(ctx, e.Actor.ID)
	if err != nil || got.ContainerJSONBase == nil || got.State == nil {
		r.log.Debug("the status of a container is not known, it may be gone", "container", e.Actor.ID, "error", err)
		return
	}
	status := statusOf(got.State.Status)
	known, changed := r.docker.notified.status(e.Actor.ID, status)
	switch {
	case !known && e.Action == "start": // it was not in the last list, being stopped, and belongs in the next
		r.emit(out)
	case changed:
		out.Action, out.Status = watcher.ActionStatus, status
		r.emit(out)
	}
}
