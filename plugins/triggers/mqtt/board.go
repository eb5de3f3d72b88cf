package mqtt

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
)

// board is what the broker holds of us. Only what differs from what it should
// hold is published.
type board struct {
	gate  chan struct{} // has room for one: whoever publishes, so that what is noted is what the broker has
	seed  maphash.Seed
	shown map[string]uint64 // payload's hash by topic; 0 when it is not known
	// stale has something in it when what is shown may not be what should be.
	stale chan struct{}
}

func newBoard() *board {
	return &board{gate: make(chan struct{}, 1), seed: maphash.MakeSeed(), shown: map[string]uint64{}, stale: make(chan struct{}, 1)}
}

func (b *board) enter(ctx context.Context) error {
	select {
	case b.gate <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *board) leave() { <-b.gate }

// doubt makes everything be published again.
func (b *board) doubt(ctx context.Context) error {
	if err := b.enter(ctx); err != nil {
		return err
	}
	defer b.leave()
	for topic := range b.shown {
		b.shown[topic] = 0
	}
	return nil
}

// left notes topics that an earlier process may have published: they are
// cleared unless they are wanted.
func (b *board) left(ctx context.Context, topics []string) error {
	if err := b.enter(ctx); err != nil {
		return err
	}
	defer b.leave()
	for _, topic := range topics {
		if _, known := b.shown[topic]; !known {
			b.shown[topic] = 0
		}
	}
	return nil
}

// put publishes messages whether the broker has them or not. They may be out of
// date, so the board is stale then.
func (b *board) put(ctx context.Context, s *session, all []message) error {
	if err := b.enter(ctx); err != nil {
		return err
	}
	defer b.leave()
	if err := s.publish(ctx, all, true); err != nil {
		return err
	}
	for _, m := range all {
		b.shown[m.topic] = b.hash(m)
	}
	select {
	case b.stale <- struct{}{}:
	default:
	}
	return nil
}

// show makes the broker hold exactly all.
func (b *board) show(ctx context.Context, s *session, all []message) error {
	if err := b.enter(ctx); err != nil {
		return err
	}
	defer b.leave()
	wanted := make(map[string]bool, len(all))
	var news []message
	for _, m := range all {
		wanted[m.topic] = true
		if b.shown[m.topic] != b.hash(m) {
			news = append(news, m)
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(b.shown)) {
		if !wanted[topic] {
			news = append(news, message{topic: topic})
		}
	}
	if err := s.publish(ctx, news, true); err != nil {
		return err
	}
	for _, m := range news {
		if wanted[m.topic] {
			b.shown[m.topic] = b.hash(m)
		} else {
			delete(b.shown, m.topic)
		}
	}
	return nil
}

// hash is never 0.
func (b *board) hash(m message) uint64 { return maphash.Bytes(b.seed, m.payload) | 1 }
