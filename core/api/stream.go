package api

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/event"
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
func (h *handler) stream(w http.ResponseWriter, r *http.Request) {
	// Subscribe first and read second: nothing falls in between.
	sub := h.Bus.Subscribe()
	defer sub.Close()
	last, err := h.Store.LastEvent(r.Context())
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx would hold events back
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return
	}
	s := stream{w: w, control: http.NewResponseController(w)}
	s.send("retry: %d\n", retryMillis)
	last = h.resume(&s, r, last)
	h.follow(&s, r, sub, last)
}

// resume tells the client where it stands and returns the id after which the
// stream goes on. An event without data sets the client's last id, so that it
// can come back even if nothing happens.
func (h *handler) resume(s *stream, r *http.Request, last int64) int64 {
	seen, asked := lastSeen(r)
	if !asked {
		s.send("id: %d\n\n", last)
		return last
	}
	oldest, err := h.Store.OldestEvent(r.Context())
	if err != nil || seen > last || last-seen > replayMax || oldest > seen+1 {
		s.send("event: reset\nid: %d\ndata: {}\n\n", last)
		return last
	}
	s.send("id: %d\n\n", seen)
	return seen
}

// follow sends every event after last until the client or the server goes.
func (h *handler) follow(s *stream, r *http.Request, sub *event.Subscription, last int64) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for s.err == nil {
		found, err := h.Store.Events(r.Context(), last, defaultPage)
		if err != nil {
			if r.Context().Err() == nil {
				h.Log.Error("read events for a stream", "error", err)
			}
			return
		}
		for _, e := range found {
			s.event(h.redacted(e))
			last = e.ID
		}
		if len(found) == defaultPage {
			continue
		}
		s.flush()
		select {
		case <-r.Context().Done():
			return
		case <-sub.C():
		case <-beat.C:
			if !h.Auth.Current(r.Context(), auth.From(r.Context())) {
				return
			}
			s.send(": beat\n\n")
		}
	}
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
	err     error
}

func (s *stream) send(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format, args...)
	}
}

func (s *stream) event(e event.Event) {
	body, err := encode(e)
	if err != nil {
		s.err = err
		return
	}
	s.send("id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Type, body)
}

func (s *stream) flush() {
	if s.err == nil {
		s.err = s.control.Flush()
	}
}
