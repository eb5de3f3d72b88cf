package label

import (
	"cmp"
	"slices"
	"strings"

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
	own   Stack
}

func memberOf(c sdk.Container) member {
	own := StackOf(c)
	return member{c.Watcher + "/" + cmp.Or(c.Stack, own.Name), own}
}

func (m member) needs(other member) bool {
	return m.stack == other.stack && slices.Contains(m.own.Needs, other.own.Service)
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
