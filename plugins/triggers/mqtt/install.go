package mqtt

import (
	"context"
	"slices"
)

// enqueue notes that the container of a topic is to be updated, unless it is already.
func (f *follower) enqueue(topic string) {
	switch _, known := f.topics[topic]; {
	case !known:
		f.log.Warn("an update is asked for on a topic of no container", "topic", topic)
	case !slices.Contains(f.queue, topic):
		f.queue = append(f.queue, topic)
	}
}

// next has the first container of the queue updated, when none is. One at a
// time: to press Install on every container is one click in Home Assistant.
func (f *follower) next(ctx context.Context) {
	for !f.busy && len(f.queue) > 0 {
		id, known := f.topics[f.queue[0]]
		if !known {
			f.queue = f.queue[1:] // it is gone meanwhile
			continue
		}
		f.busy = true
		f.wait.Go(func() {
			// The host tells of a failure.
			_ = f.world.Run(ctx, f.hass.install, id)
			f.ended <- struct{}{}
		})
	}
}
