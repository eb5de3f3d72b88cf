package mqtt

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dogwatch/dogwatch/sdk"
)

// desired returns all that the broker should retain.
func (sub *subscription) desired() []message {
	var all []message
	if sub.hass != nil {
		if sub.hass.discovery {
			all = append(all, sub.hass.connection())
		}
		all = append(all, message{sub.names.status(), []byte(online)})
	}
	if !sub.known {
		return all
	}
	cards := sub.sorted()
	containers := make([]sdk.Container, len(cards))
	for i, c := range cards {
		containers[i] = c.Container
	}
	sub.topics = map[string]string{}
	for i, topic := range sub.names.containers(containers) {
		sub.topics[topic] = containers[i].ID
		all = append(all, sub.messages(cards[i], topic, sub.workOn(containers[i], topic))...)
	}
	if sub.hass != nil {
		all = append(all, sub.summary(containers)...)
	}
	return all
}

// card is a container and its messages as rendered last.
type card struct {
	sdk.Container
	topic string
	work  work
	all   []message
}

// workOn returns whether a container is being updated, or waits for that here.
func (sub *subscription) workOn(c sdk.Container, topic string) work {
	if op, running := sub.operations[subject{c.Watcher, c.Name}]; running {
		return work{busy: true, percent: op.Percent}
	}
	return work{busy: slices.Contains(sub.queue, topic), percent: -1, failed: sub.failures[topic]}
}

// messages returns what the broker should retain of a container.
func (sub *subscription) messages(c *card, topic string, w work) []message {
	if c.topic == topic && c.work == w {
		return c.all
	}
	c.topic, c.work, c.all = topic, w, nil
	if sub.hass != nil && sub.hass.discovery {
		c.all = append(c.all, sub.hass.container(c.Container, topic))
		c.all = append(c.all, sub.hass.buttons(c.Container, topic)...)
	}
	c.all = append(c.all, message{topic, state(c.Container, sub.exclude, w)})
	return c.all
}

func (sub *subscription) sorted() []*card {
	return slices.SortedFunc(maps.Values(sub.cards), func(a, b *card) int {
		return cmp.Or(cmp.Compare(a.Watcher, b.Watcher), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
}

// summary returns the counts of each watcher and of all together, and what watchers do.
func (sub *subscription) summary(containers []sdk.Container) []message {
	total, updates := map[string]int{}, map[string]int{}
	var allUpdates int
	for _, c := range containers {
		total[c.Watcher]++
		if c.UpdateAvailable {
			updates[c.Watcher]++
			allUpdates++
		}
	}
	all := sub.hass.counts("Total", sub.names.total, len(containers), allUpdates)
	for _, name := range slices.Sorted(maps.Keys(sub.watchers)) {
		topic := func(what string) string { return sub.names.ofWatcher(name, what) }
		all = append(all, sub.hass.counts("Watcher "+name, topic, total[name], updates[name])...)
		all = append(all, sub.hass.running(sub.watchers[name])...)
	}
	return all
}
