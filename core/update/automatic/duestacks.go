package automatic

import (
	"cmp"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/update/stackorder"
	"github.com/dogwatch/dogwatch/sdk"
)

// stackID identifies a stack: of a watcher and a name, or of one container that is in none.
type stackID struct{ watcher, stack, name string }

// ownSource is what Dogwatch's images say that they are made of.
const ownSource = "https://github.com/dogwatch/dogwatch"

// isDogwatch reports whether a container runs Dogwatch, as the one that serves and its agents do.
func isDogwatch(c *sdk.Container) bool {
	return c.Labels["org.opencontainers.image.source"] == ownSource
}

// stackOf returns the stack of a container. All that run Dogwatch are one, whatever engine they are on: one of them is
// updated first, and the others once that works.
func stackOf(c *sdk.Container) stackID {
	switch {
	case isDogwatch(c):
		return stackID{"", "dogwatch", ""}
	case c.Stack == "":
		return stackID{c.Watcher, "", c.Name}
	}
	return stackID{c.Watcher, c.Stack, ""}
}

// stacksOf returns the containers of each stack of which an update is due, or held since the
// stack is stopped, those first that others depend on.
func stacksOf(all []*sdk.Container, now time.Time) [][]*sdk.Container {
	var due []stackID
	members := map[stackID][]*sdk.Container{}
	for _, c := range all {
		if key := stackOf(c); (isDue(c, now) || isStopped(c)) && members[key] == nil {
			due, members[key] = append(due, key), []*sdk.Container{}
		}
	}
	if len(due) == 0 {
		return nil
	}
	for _, c := range all {
		if key := stackOf(c); members[key] != nil {
			members[key] = append(members[key], c)
		}
	}
	slices.SortFunc(due, func(a, b stackID) int {
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
