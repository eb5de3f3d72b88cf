package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/dogwatch/dogwatch/core/event"
)

// tailMax bounds the messages that are kept until every stream has them, in bytes.
const tailMax = 1 << 20

// message is an event as streams send it.
type message struct {
	id      int64
	private bool
	text    []byte
}

// feed is what all streams send: the stream that hears of an event first reads
// and encodes it, and the others find it here, until all have it. A stream that
// was too slow to find it reads the store itself.
type feed struct {
	store  Store
	bus    *event.Bus
	redact func(event.Event) event.Event

	mu sync.Mutex
	// streams are the ids up to which each stream has everything. While there
	// is none, what follows does not count.
	streams map[*stream]int64
	wakes   uint64 // of the bus, when the log was read
	first   int64  // id after which the tail begins
	last    int64  // id of the newest event that was read
	tail    []message
	size    int // of the tail, in bytes
}

// join counts a stream in and returns the id of the newest event.
func (f *feed) join(ctx context.Context, s *stream) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.streams) == 0 {
		wakes := f.bus.Wakes()
		last, err := f.store.LastEvent(ctx)
		if err != nil {
			return 0, err
		}
		f.streams, f.wakes, f.first, f.last = map[*stream]int64{}, wakes, last, last
	}
	err := f.update(ctx)
	if err == nil {
		f.streams[s] = f.last
	}
	return f.last, err
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
	if err := f.update(ctx); err != nil {
		return nil, err
	}
	f.streams[s] = s.last
	f.trim()
	if s.last < f.first {
		return f.page(ctx, s.last)
	}
	from, _ := slices.BinarySearchFunc(f.tail, s.last+1, func(m message, id int64) int { return cmp.Compare(m.id, id) })
	return slices.Clone(f.tail[from:]), nil
}

// trim forgets what every stream has, and the oldest beyond tailMax. The lock is held.
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

// update reads what is new in the log, once for each change of it. The lock is held.
func (f *feed) update(ctx context.Context) error {
	wakes := f.bus.Wakes() // before the log is read: what comes meanwhile is read again
	if f.wakes == wakes {
		return nil
	}
	for {
		found, err := f.page(ctx, f.last)
		if err != nil {
			return err
		}
		for _, m := range found {
			f.tail, f.size, f.last = append(f.tail, m), f.size+len(m.text), m.id
		}
		f.trim()
		if len(found) < defaultPage {
			f.wakes = wakes
			return nil
		}
	}
}

// page reads and encodes the events that follow the one with an id.
func (f *feed) page(ctx context.Context, id int64) ([]message, error) {
	found, err := f.store.Events(ctx, id, defaultPage)
	if err != nil {
		return nil, err
	}
	messages := make([]message, len(found))
	for i, e := range found {
		body, err := encode(f.redact(e))
		if err != nil {
			return nil, fmt.Errorf("encode event %d: %w", e.ID, err)
		}
		messages[i] = message{id: e.ID, private: e.Type.Private(), text: fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Type, body)}
	}
	return messages, nil
}
