package automatic

import (
	"cmp"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/label"
	"github.com/dogwatch/dogwatch/sdk"
)

// stacksOf returns the containers of each stack of which an update is due, those first that
// others depend on. A container that is in no stack is one of its own.
func stacksOf(all []*sdk.Container, now time.Time) [][]*sdk.Container {
	type id struct{ watcher, stack, name string }
	of := func(c *sdk.Container) id {
		if c.Stack == "" {
			return id{c.Watcher, "", c.Name}
		}
		return id{c.Watcher, c.Stack, ""}
	}
	var due []id
	members := map[id][]*sdk.Container{}
	for _, c := range all {
		if key := of(c); isDue(c, now) && members[key] == nil {
			due, members[key] = append(due, key), []*sdk.Container{}
		}
	}
	if len(due) == 0 {
		return nil
	}
	for _, c := range all {
		if key := of(c); members[key] != nil {
			members[key] = append(members[key], c)
		}
	}
	slices.SortFunc(due, func(a, b id) int {
		return cmp.Or(cmp.Compare(a.watcher, b.watcher), cmp.Compare(a.stack, b.stack), cmp.Compare(a.name, b.name))
	})
	stacks := make([][]*sdk.Container, len(due))
	for i, key := range due {
		stacks[i] = ordered(members[key])
	}
	return stacks
}

// ordered returns the containers of a stack, each after those that it depends on, and
// otherwise by name. Of a circle, the first by name comes last.
func ordered(stack []*sdk.Container) []*sdk.Container {
	stack = slices.SortedFunc(slices.Values(stack), func(a, b *sdk.Container) int { return cmp.Compare(a.Name, b.Name) })
	sorted := make([]*sdk.Container, 0, len(stack))
	said := make(map[*sdk.Container]label.Stack, len(stack))
	for _, c := range stack {
		said[c] = label.StackOf(*c)
	}
	seen := map[*sdk.Container]bool{}
	var add func(c *sdk.Container)
	add = func(c *sdk.Container) {
		if seen[c] {
			return
		}
		seen[c] = true
		for _, other := range stack {
			if slices.Contains(said[c].Needs, said[other].Service) {
				add(other)
			}
		}
		sorted = append(sorted, c)
	}
	for _, c := range stack {
		add(c)
	}
	return sorted
}
