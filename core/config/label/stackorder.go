package label

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// InOrder returns what belongs to containers, each after those of the same watcher and stack that its
// container depends on, and otherwise by the name of the container. Of a circle, the first by name comes last.
func InOrder[T any](all []T, of func(T) sdk.Container) []T {
	type node struct {
		what       T
		key, stack string // the watcher and the name, the watcher and the stack
		is         Stack
		seen       bool
	}
	nodes := make([]*node, len(all))
	for i, what := range all {
		c := of(what)
		is := StackOf(c)
		nodes[i] = &node{what: what, key: c.Watcher + "/" + c.Name, stack: c.Watcher + "/" + cmp.Or(c.Stack, is.Name),
			is: is}
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
			if other.stack == n.stack && slices.Contains(n.is.Needs, other.is.Service) {
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

// compose returns the value of a label about the stack; "" where only the image says it.
func (s Set) compose(name string) string {
	if v, own := s.Operator[name]; own {
		return v
	}
	if (name == composeProject || name == composeService) && s.isOfCompose() {
		return s.Image[name]
	}
	return ""
}

// isOfCompose reports whether Compose has created the container.
func (s Set) isOfCompose() bool {
	return s.Operator[composeHash] != "" || s.Operator[composeNumber] != ""
}

// outsiders returns the labels of an image about stacks that do not count.
func (s Set) outsiders() (ignored []Ignored) {
	for name, value := range s.Image {
		isBuilt := name == composeProject || name == composeService || name == composeVersion
		switch {
		case value == "", !strings.HasPrefix(name, composePrefix) && !slices.Contains(stackLabels[:], name):
		case isBuilt && s.isOfCompose():
		default:
			ignored = append(ignored, Ignored{Label: name, Why: onlyOperator})
		}
	}
	slices.SortFunc(ignored, func(a, b Ignored) int { return strings.Compare(a.Label, b.Label) })
	return ignored
}
