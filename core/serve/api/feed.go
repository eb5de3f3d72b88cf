package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// tailMax bounds the messages that are kept until every stream has them, in bytes.
const tailMax = 1 << 20

// message is an event as streams send it.
type message struct {
	id   int64
	typ  event.Type
	text []byte
}

// feed is what all streams send: the stream that is notified of an event first
// has it read and encoded, and the others find it here, until all have it. A
// stream that was too slow to find it reads the store itself.
type feed struct {
	log    event.Log
	redact func(event.Event) event.Event

	mu     sync.Mutex
	tailer *event.Tailer
	// streams are the ids up to which each stream has everything. While there
	// is none, the log is not read.
	streams map[*stream]int64
	first   int64 // id after which the tail begins
	last    int64 // id of the newest event that was read
	tail    []message
	size    int // of the tail, in bytes
}

func newFeed(log event.Log, bus *event.Bus, redact func(event.Event) event.Event) *feed {
	f := &feed{log: log, redact: redact, streams: map[*stream]int64{}}
	f.tailer = event.NewTailer(event.TailOptions{Log: log, Bus: bus, Handle: f.add})
	return f
}

// join counts a stream in and returns the id of the newest event.
func (f *feed) join(ctx context.Context, s *stream) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := len(f.streams) == 0
	if first {
		f.tailer.Reset()
	}
	if err := f.tailer.CatchUp(ctx); err != nil {
		return 0, err
	}
	if first {
		f.first, f.last = f.tailer.Cursor(), f.tailer.Cursor()
	}
	f.streams[s] = f.last
	return f.last, nil
}

func (f *feed) leave(s *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.streams, s)
	f.trim()
}

// after returns the messages that follow the last one of a stream, oldest first;
// not all of them if there are many. They are shared and must not be changed.
func (f *feed) after(ctx context.Context, s *stream) ([]message, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.tailer.CatchUp(ctx); err != nil {
		return nil, err
	}
	f.streams[s] = s.last
	f.trim()
	if s.last < f.first {
		found, err := f.log.Events(ctx, s.last, defaultPage)
		if err != nil {
			return nil, err
		}
		return f.encode(found)
	}
	from, _ := slices.BinarySearchFunc(f.tail, s.last+1, func(m message, id int64) int { return cmp.Compare(m.id, id) })
	return slices.Clone(f.tail[from:]), nil
}

// trim drops what every stream has, and the oldest beyond tailMax. The lock is held.
func (f *feed) trim() {
	had := f.last
	for _, id := range f.streams {
		if id >= f.first { // one that is further behind reads the store
			had = min(had, id)
		}
	}
	n, size := 0, f.size
	for n < len(f.tail) && (f.tail[n].id <= had || size > tailMax) {
		size -= len(f.tail[n].text)
		n++
	}
	if n == 0 {
		return
	}
	f.first, f.size = f.tail[n-1].id, size
	if f.tail = slices.Delete(f.tail, 0, n); len(f.tail) == 0 {
		f.tail = nil
	}
}

// add takes events over from the tailer. The lock is held.
func (f *feed) add(_ context.Context, page []event.Event) error {
	messages, err := f.encode(page)
	if err != nil {
		return err
	}
	for _, m := range messages {
		f.tail, f.size, f.last = append(f.tail, m), f.size+len(m.text), m.id
	}
	f.trim()
	return nil
}

func (f *feed) encode(events []event.Event) ([]message, error) {
	messages := make([]message, len(events))
	for i, e := range events {
		body, err := encode(f.redact(e))
		if err != nil {
			return nil, fmt.Errorf("encode event %d: %w", e.ID, err)
		}
		messages[i] = message{
			id: e.ID, typ: e.Type, text: fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Type, body),
		}
	}
	return messages, nil
}
