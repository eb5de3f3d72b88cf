package enginesim

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// repeated is how many events an engine can repeat.
	repeated = 256
	// kept is how far a reader of live events may fall behind.
	kept = 8192
)

// event is one event as the API has it, and its number.
type event struct {
	Status   string `json:"status"`
	ID       string `json:"id"`
	From     string `json:"from"`
	Type     string
	Action   string
	Actor    actor
	Scope    string `json:"scope"`
	Time     int64  `json:"time"`
	TimeNano int64  `json:"timeNano"`

	number int
}

type actor struct {
	ID         string
	Attributes map[string]string
}

// publish records an event and wakes the streams.
func (e *Engine) publish(c *Container, action string) {
	now := e.config.Now()
	if !now.After(e.lastEvent) {
		now = e.lastEvent.Add(1)
	}
	e.lastEvent = now
	attributes := map[string]string{"image": c.Image, "name": c.Name}
	maps.Copy(attributes, c.Labels)
	e.sequence++
	e.history = append(e.history, event{
		Status: action, ID: c.ID, From: c.Image, Type: "container", Action: action,
		Actor: actor{ID: c.ID, Attributes: attributes}, Scope: "local",
		Time: now.Unix(), TimeNano: now.UnixNano(), number: e.sequence,
	})
	if len(e.history) > kept {
		e.history = slices.Delete(e.history, 0, len(e.history)-kept)
	}
	close(e.published)
	e.published = make(chan struct{})
}

// BreakStreams cuts every event stream that is open now.
func (e *Engine) BreakStreams() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.breakStreams()
}

func (e *Engine) breakStreams() {
	close(e.broken)
	e.broken = make(chan struct{})
}

// Restart forgets the events and cuts the streams, as a restart of the engine does
// that leaves the containers running.
func (e *Engine) Restart() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.history = nil
	e.breakStreams()
}

// AwaitStreams waits until n event streams have been opened since the engine was made.
// The n-th has every later change.
func (e *Engine) AwaitStreams(ctx context.Context, n int) error {
	for {
		e.mu.Lock()
		streams, opened := e.streams, e.opened
		e.mu.Unlock()
		if streams >= n {
			return nil
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stream serves GET /events.
func (e *Engine) stream(w http.ResponseWriter, r *http.Request) {
	wanted, problem := filtersOf(r)
	since, ok := instant(r.URL.Query().Get("since"))
	if problem != "" || !ok {
		refuse(w, http.StatusBadRequest, "invalid filters or since")
		return
	}
	e.mu.Lock()
	broken, sent := e.broken, e.sequence
	if !since.IsZero() {
		old := e.history[max(0, len(e.history)-repeated):]
		for _, past := range slices.Backward(old) {
			if past.TimeNano < since.UnixNano() {
				break
			}
			sent = past.number - 1
		}
	}
	e.streams++
	close(e.opened)
	e.opened = make(chan struct{})
	e.mu.Unlock()

	flusher := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_ = flusher.Flush() // a reader that has gone is found out below
	out := json.NewEncoder(w)
	for {
		e.mu.Lock()
		if e.broken != broken { // what happened since is for the next stream
			e.mu.Unlock()
			panic(http.ErrAbortHandler) // cuts the connection, with no end of the stream
		}
		published := e.published
		next, _ := slices.BinarySearchFunc(e.history, sent+1, func(ev event, n int) int { return ev.number - n })
		pending := slices.Clone(e.history[next:])
		e.mu.Unlock()
		for _, ev := range pending {
			sent = ev.number
			if wanted.accept("type", ev.Type) && wanted.accept("event", ev.Action) && wanted.accept("container", ev.ID) {
				if out.Encode(ev) != nil {
					return
				}
			}
		}
		if len(pending) > 0 {
			_ = flusher.Flush()
		}
		select {
		case <-published:
		case <-broken:
		case <-r.Context().Done():
			return
		}
	}
}

// instant reads "seconds" or "seconds.nanoseconds"; the zero Time is "".
func instant(text string) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	integer, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(integer, 10, 64)
	if err != nil || len(fraction) > 9 {
		return time.Time{}, false
	}
	nanos, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	return time.Unix(seconds, nanos), err == nil
}
