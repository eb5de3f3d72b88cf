// Package stackorder orders the containers of a stack by what they depend on.
package stackorder

import (
	"cmp"
	"slices"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/sdk"
)

// InOrder returns what belongs to containers, each after those of the same watcher and stack that its
// container depends on, and otherwise by the name of the container. Of a circle, the first by name comes last.
func InOrder[T any](all []T, containerOf func(T) sdk.Container) []T {
	type node struct {
		member
		what T
		key  string // the watcher and the name
		seen bool
	}
	nodes := make([]*node, len(all))
	for i, what := range all {
		c := containerOf(what)
		nodes[i] = &node{member: memberOf(c), what: what, key: c.Watcher + "/" + c.Name}
	}
	slices.SortStableFunc(nodes, func(a, b *node) int { return cmp.Compare(a.key, b.key) })
	sorted := make([]T, 0, len(all))
	var add func(n *node)
	add = func(n *node) {
		if n.seen {
			return
		}
		n.seen = true
		for _, other := range nodes {
			if n.needs(other.member) {
				add(other)
			}
		}
		sorted = append(sorted, n.what)
	}
	for _, n := range nodes {
		add(n)
	}
	return sorted
}

// DependsOn reports whether a container depends on another one of its watcher and stack.
func DependsOn(c, other sdk.Container) bool { return memberOf(c).needs(memberOf(other)) }

// member is a container in its stack.
type member struct {
	stack string // with the watcher
	own   label.Stack
}

func memberOf(c sdk.Container) member {
	own := label.StackOf(c)
	return member{c.Watcher + "/" + cmp.Or(c.Stack, own.Name), own}
}

func (m member) needs(other member) bool {
	return m.stack == other.stack && slices.Contains(m.own.Needs, other.own.Service)
}
