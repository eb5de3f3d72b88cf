package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/service"
)

const (
	// heartbeat keeps proxies from closing a quiet stream.
	heartbeat = 15 * time.Second
	// replayMax bounds what a client that was away gets; past that it has to load everything again.
	replayMax = 1000
	// retryMillis is how long a browser waits before it connects again.
	retryMillis = 2000
)

// stream sends events as they happen (server-sent events, WHATWG HTML section
// 9.2). A client that comes back with Last-Event-ID first gets what it missed.
//
// A stream mostly waits, and so do its stack and all that is on it: what needs
// room is done in functions that have returned by then.
func (h *handler) stream(w http.ResponseWriter, r *http.Request) {
	// Subscribe first and read second: nothing falls in between.
	sub := h.Bus.SubscribeAll()
	defer sub.Close()
	s := h.begin(w, r)
	if s == nil {
		return
	}
	defer h.feed.leave(s)
	h.follow(r.Context(), s, sub)
}

// begin answers the request and tells the client where it stands. It returns
// nil when there is nothing to follow.
func (h *handler) begin(w http.ResponseWriter, r *http.Request) *stream {
	s := &stream{w: w, control: http.NewResponseController(w), caller: auth.From(r.Context())}
	_, s.touches = h.Bus.Touched(0)
	last, err := h.feed.join(r.Context(), s)
	if err != nil {
		h.failWith(w, r, err)
		return nil
	}
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx would hold events back
	if r.Method == http.MethodHead {
		h.feed.leave(s)
		w.WriteHeader(http.StatusOK)
		return nil
	}
	s.send("retry: %d\n", retryMillis)
	s.last = h.resume(s, r, last)
	return s
}

// resume tells the client where it stands and returns the id after which the
// stream goes on. An event without data sets the client's last id, so that it
// can come back even if nothing happens.
func (h *handler) resume(s *stream, r *http.Request, last int64) int64 {
	seen, asked := lastSeen(r)
	if !asked || seen == last {
		s.send("id: %d\n\n", last)
		return last
	}
	oldest, err := h.Events.OldestEvent(r.Context())
	if err != nil || seen > last || last-seen > replayMax || oldest > seen+1 {
		s.send("event: reset\nid: %d\ndata: {}\n\n", last)
		return last
	}
	s.send("id: %d\n\n", seen)
	return seen
}

// follow sends every event until the client or the server goes.
func (h *handler) follow(ctx context.Context, s *stream, sub *event.Subscription) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for h.catchUp(ctx, s) {
		select {
		case <-ctx.Done():
			return
		case <-sub.C():
		case <-beat.C:
			if !h.beat(ctx, s) {
				return
			}
		}
	}
}

// beat keeps a stream alive, if its client may still listen.
func (h *handler) beat(ctx context.Context, s *stream) bool {
	current := h.Auth.Current(ctx, s.caller)
	if current {
		s.send(": beat\n\n")
	}
	return current
}

// catchUp sends what the client does not have yet. It returns false when the stream is over.
func (h *handler) catchUp(ctx context.Context, s *stream) bool {
	for s.err == nil {
		found, err := h.feed.after(ctx, s)
		if err != nil {
			if ctx.Err() == nil {
				h.Log.Error("read events for a stream", "error", err)
			}
			return false
		}
		if len(found) == 0 {
			break
		}
		s.events(found)
	}
	s.touched(h.Bus, h.stateOf)
	s.flush()
	return s.err == nil
}

// lastSeen returns the id of the last event that the client has.
func lastSeen(r *http.Request) (int64, bool) {
	for _, text := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("lastEventId")} {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil && id >= 0 {
			return id, true
		}
	}
	return 0, false
}

// stream writes server-sent events; after the first error it writes nothing.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	caller  auth.Identity
	last    int64  // id of the last event that was dealt with
	touches uint64 // of the bus, that were dealt with
	err     error
}

func (s *stream) send(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format, args...)
	}
}

// events sends those of messages that the client may see.
func (s *stream) events(messages []message) {
	for _, m := range messages {
		if s.err == nil && service.Visible(s.caller, m.typ) {
			_, s.err = s.w.Write(m.text)
		}
		s.last = m.id
	}
}

// touched sends which state has changed that is not in the log: without an id, so that the client's stays.
func (s *stream) touched(bus *event.Bus, stateOf func(event.Type) []byte) {
	types, now := bus.Touched(s.touches)
	for _, t := range types {
		s.send("event: %s\ndata: %s\n\n", t, stateOf(t))
	}
	s.touches = now
}

// stateOf is what streams send of state that has changed. The progress of checks
// is short and changes often; other state has to be asked for.
func (h *handler) stateOf(t event.Type) []byte {
	if t != event.CheckProgressed {
		return []byte("{}")
	}
	body, err := encode(map[string]any{"checks": h.Service.Progress()})
	if err != nil {
		panic(fmt.Sprintf("encode the progress of checks: %v", err)) // plain data; cannot fail
	}
	return body
}

func (s *stream) flush() {
	if s.err == nil {
		s.err = s.control.Flush()
	}
}
