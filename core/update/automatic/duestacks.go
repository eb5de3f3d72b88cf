package automatic

import (
	"cmp"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/update/stackorder"
	"github.com/dogwatch/dogwatch/sdk"
)

// stacksOf returns the containers of each stack of which an update is due, or held since the
// stack is stopped, those first that others depend on. A container that is in no stack is one of its own.
func stacksOf(all []*sdk.Container, now time.Time) [][]*sdk.Container {
	type id struct{ watcher, stack, name string }
	idOf := func(c *sdk.Container) id {
		if c.Stack == "" {
			return id{c.Watcher, "", c.Name}
		}
		return id{c.Watcher, c.Stack, ""}
	}
	var due []id
	members := map[id][]*sdk.Container{}
	for _, c := range all {
		if key := idOf(c); (isDue(c, now) || isStopped(c)) && members[key] == nil {
			due, members[key] = append(due, key), []*sdk.Container{}
		}
	}
	if len(due) == 0 {
		return nil
	}
	for _, c := range all {
		if key := idOf(c); members[key] != nil {
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
	return stackorder.InOrder(stack, func(c *sdk.Container) sdk.Container { return *c })
}
