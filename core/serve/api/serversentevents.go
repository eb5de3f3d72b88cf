package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
)

const (
	// heartbeat keeps proxies from closing a quiet stream.
	heartbeat = 15 * time.Second
	// replayMax bounds how many missed events a client gets; past that it has to load
	// everything again.
	replayMax = 1000
	// retryMillis is how long a browser waits before it connects again.
	retryMillis = 2000
)

// stream sends events as they happen (server-sent events, SSE, WHATWG HTML section
// 9.2). A client that connects again with Last-Event-ID first gets what it missed.
//
// A stream mostly waits, and its stack is kept meanwhile: what needs much memory is
// done in functions that have returned by then.
func (h *handler) stream(w http.ResponseWriter, r *http.Request) {
	// Subscribe first and read second: nothing falls in between.
	sub := h.Bus.SubscribeAll()
	defer sub.Close()
	s := h.startStream(w, r)
	if s == nil {
		return
	}
	defer h.feed.leave(s)
	h.runStream(r.Context(), s, sub)
}

// startStream responds with the header, and with the id after which events follow.
// It returns nil when the response is complete.
func (h *handler) startStream(w http.ResponseWriter, r *http.Request) *stream {
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

// resume sends the id after which the stream continues, and returns it. An event
// without data sets the client's last id, so that it can connect again even if
// nothing happens.
func (h *handler) resume(s *stream, r *http.Request, last int64) int64 {
	seen, resumes := lastSeen(r)
	if !resumes || seen == last {
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

// runStream sends every event until the client disconnects or the server shuts down.
func (h *handler) runStream(ctx context.Context, s *stream, sub *event.Subscription) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for h.catchUp(ctx, s) {
		select {
		case <-ctx.Done():
			return
		case <-sub.C():
		case <-beat.C:
			if !h.heartbeat(ctx, s) {
				return
			}
		}
	}
}

// heartbeat keeps a stream alive, and returns false if its session or token is not
// valid any more.
func (h *handler) heartbeat(ctx context.Context, s *stream) bool {
	current := h.Auth.Current(ctx, s.caller)
	if current {
		s.send(": beat\n\n")
	}
	return current
}

// catchUp sends what the client does not have yet. It returns false when the stream
// has to end.
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
	last    int64  // id of the last event that was sent or passed over
	touches uint64 // of the bus, that were sent
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

// stateOf is what streams send of state that has changed. Progress is short and
// changes often; other state has to be requested.
func (h *handler) stateOf(t event.Type) []byte {
	var state any
	switch t {
	case event.CheckProgressed:
		state = map[string]any{"checks": h.Service.Progress()}
	case event.DeliveryProgressed:
		state = map[string]any{"deliveries": h.Service.DeliveryProgress()}
	case event.OperationProgressed:
		state = map[string]any{"operations": h.Service.OperationsUnderWay()}
	default:
		return []byte("{}")
	}
	body, err := encode(state)
	if err != nil {
		panic(fmt.Sprintf("encode progress: %v", err)) // plain data; cannot fail
	}
	return body
}

func (s *stream) flush() {
	if s.err == nil {
		s.err = s.control.Flush()
	}
}
