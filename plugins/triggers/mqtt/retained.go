package mqtt

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/dogwatch/dogwatch/internal/wake"
)

// retained are the messages that the broker retains for this instance. Only what
// differs from the desired state is published.
type retained struct {
	semaphore chan struct{} // of capacity 1, held while publishing, so that hashes is what the broker has
	seed      maphash.Seed
	hashes    map[string]uint64 // of payloads by topic; 0 when the payload is not known
	// stale is signalled when the retained messages may not be the desired ones.
	stale wake.Signal
}

func newRetained() *retained {
	return &retained{
		semaphore: make(chan struct{}, 1), seed: maphash.MakeSeed(), hashes: map[string]uint64{},
		stale: wake.New(),
	}
}

func (r *retained) lock(ctx context.Context) error {
	select {
	case r.semaphore <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *retained) unlock() { <-r.semaphore }

// invalidate makes the next sync publish everything.
func (r *retained) invalidate(ctx context.Context) error {
	if err := r.lock(ctx); err != nil {
		return err
	}
	defer r.unlock()
	for topic := range r.hashes {
		r.hashes[topic] = 0
	}
	return nil
}

// mayHold adds topics that an earlier process may have published: the next sync
// clears those that are not desired.
func (r *retained) mayHold(ctx context.Context, topics []string) error {
	if err := r.lock(ctx); err != nil {
		return err
	}
	defer r.unlock()
	for _, topic := range topics {
		if _, known := r.hashes[topic]; !known {
			r.hashes[topic] = 0
		}
	}
	return nil
}

// put publishes messages whether the broker has them or not. They may be out of
// date, so stale is signalled.
func (r *retained) put(ctx context.Context, s *session, all []message) error {
	if err := r.lock(ctx); err != nil {
		return err
	}
	defer r.unlock()
	if err := s.publish(ctx, all, true); err != nil {
		return err
	}
	for _, m := range all {
		r.hashes[m.topic] = r.hash(m)
	}
	r.stale.Set()
	return nil
}

// sync makes the broker retain exactly all.
func (r *retained) sync(ctx context.Context, s *session, all []message) error {
	if err := r.lock(ctx); err != nil {
		return err
	}
	defer r.unlock()
	desired := make(map[string]bool, len(all))
	var changed []message
	for _, m := range all {
		desired[m.topic] = true
		if r.hashes[m.topic] != r.hash(m) {
			changed = append(changed, m)
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(r.hashes)) {
		if !desired[topic] {
			changed = append(changed, message{topic: topic})
		}
	}
	if err := s.publish(ctx, changed, true); err != nil {
		return err
	}
	for _, m := range changed {
		if desired[m.topic] {
			r.hashes[m.topic] = r.hash(m)
		} else {
			delete(r.hashes, m.topic)
		}
	}
	return nil
}

// hash is never 0.
func (r *retained) hash(m message) uint64 { return maphash.Bytes(r.seed, m.payload) | 1 }
