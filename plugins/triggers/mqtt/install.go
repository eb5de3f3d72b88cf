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
		delete(sub.failures, topic)
		sub.queue = append(sub.queue, topic)
	}
}

// installed notes how the first update of the queue ended.
func (sub *subscription) installed(err error) {
	topic := sub.queue[0]
	sub.queue, sub.busy = sub.queue[1:], false
	if err != nil {
		sub.failures[topic] = err.Error()
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
			// The host logs a failure; Home Assistant is told of it.
			sub.ended <- sub.stream.Run(ctx, sub.hass.install, id)
		})
	}
}
