package service

import (
	"context"
	"sync"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/model/tally"
)

// changesAtOnce is how many changes of updates are read from the log at a time.
const changesAtOnce = 500

// updateHistory is the log of updates as far as it was replayed: each change is read once.
type updateHistory struct {
	mu  sync.Mutex
	log history.Log
}

// UpdateHistory returns how far behind the containers were on each of the last days of
// which that is known, at most history.Days of them, the oldest first. The last is
// today, as of now.
func (s *Service) UpdateHistory(ctx context.Context) ([]history.Day, error) {
	h := &s.updates
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		changes, err := s.opt.Store.Changes(ctx, h.log.Last(), changesAtOnce)
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			h.log.Add(c)
		}
		if len(changes) < changesAtOnce {
			break
		}
	}
	var pending []history.Pending
	for _, rec := range s.opt.Store.Snapshot().All() {
		if kind := tally.Kind(&rec.Container); kind != "" {
			pending = append(pending, history.Pending{Subject: event.Subject(rec.Container), Kind: kind, Since: rec.FoundAt})
		}
	}
	return h.log.Days(s.opt.Now(), pending), nil
}
