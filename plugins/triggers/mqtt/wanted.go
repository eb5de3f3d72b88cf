package mqtt

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dogwatch/dogwatch/sdk"
)

// wanted is all that the broker should hold.
func (f *follower) wanted() []message {
	var all []message
	if f.hass != nil {
		if f.hass.discovery {
			all = append(all, f.hass.connection())
		}
		all = append(all, message{f.names.status(), []byte(online)})
	}
	if !f.known {
		return all
	}
	cards := f.sorted()
	containers := make([]sdk.Container, len(cards))
	for i, c := range cards {
		containers[i] = c.Container
	}
	f.topics = map[string]string{}
	for i, topic := range f.names.containers(containers) {
		f.topics[topic] = containers[i].ID
		all = append(all, f.messages(cards[i], topic, slices.Contains(f.queue, topic))...)
	}
	if f.hass != nil {
		all = append(all, f.summary(containers)...)
	}
	return all
}

// card is a container and what was made of it last.
type card struct {
	sdk.Container
	topic string
	busy  bool
	all   []message
}

// messages is what the broker should hold of a container.
func (f *follower) messages(c *card, topic string, busy bool) []message {
	if c.topic == topic && c.busy == busy {
		return c.all
	}
	c.topic, c.busy, c.all = topic, busy, nil
	if f.hass != nil && f.hass.discovery {
		c.all = append(c.all, f.hass.container(c.Container, topic))
	}
	c.all = append(c.all, message{topic, state(c.Container, f.exclude, busy)})
	return c.all
}

func (f *follower) sorted() []*card {
	return slices.SortedFunc(maps.Values(f.cards), func(a, b *card) int {
		return cmp.Or(cmp.Compare(a.Watcher, b.Watcher), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
}

// summary is the counts of each watcher and of all together, and what watchers do.
func (f *follower) summary(containers []sdk.Container) []message {
	total, updates := map[string]int{}, map[string]int{}
	var allUpdates int
	for _, c := range containers {
		total[c.Watcher]++
		if c.UpdateAvailable {
			updates[c.Watcher]++
			allUpdates++
		}
	}
	all := f.hass.counts("Total", f.names.total, len(containers), allUpdates)
	for _, name := range slices.Sorted(maps.Keys(f.watchers)) {
		topic := func(what string) string { return f.names.of(name, what) }
		all = append(all, f.hass.counts("Watcher "+name, topic, total[name], updates[name])...)
		all = append(all, f.hass.running(f.watchers[name])...)
	}
	return all
}
