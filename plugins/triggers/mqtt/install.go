package mqtt

import (
	"context"
	"slices"
)

// enqueue adds the container of a topic to the queue of updates, unless it is there.
func (sub *subscription) enqueue(topic string) {
	switch _, known := sub.topics[topic]; {
	case !known:
		sub.log.Warn("an update is asked for on a topic of no container", "topic", topic)
	case !slices.Contains(sub.queue, topic):
		sub.queue = append(sub.queue, topic)
	}
}

// next updates the first container of the queue, when none is under way. One at a
// time: one click in Home Assistant installs the updates of all containers.
func (sub *subscription) next(ctx context.Context) {
	for !sub.busy && len(sub.queue) > 0 {
		id, known := sub.topics[sub.queue[0]]
		if !known {
			sub.queue = sub.queue[1:] // it is gone meanwhile
			continue
		}
		sub.busy = true
		sub.wait.Go(func() {
			// The host reports a failure.
			_ = sub.stream.Run(ctx, sub.hass.install, id)
			sub.ended <- struct{}{}
		})
	}
}
