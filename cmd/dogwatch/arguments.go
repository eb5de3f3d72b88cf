package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/app/lookup"
	"github.com/dogwatch/dogwatch/core/app/oneshot"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// named is what the arguments of a command stand for.
type named struct {
	containers []sdk.Container
	images     []string
}

// neededFor returns the kinds of components that it takes to find what words
// stand for: none that needs an engine when they can only be images.
func neededFor(words []string) []kind.Kind {
	if !slices.ContainsFunc(words, func(w string) bool { return !looksLikeImage(w) }) {
		return []kind.Kind{kind.Registry}
	}
	return []kind.Kind{kind.Registry, kind.Watcher}
}

// looksLikeImage reports whether a word can only be an image: it has a tag, a digest or a host.
func looksLikeImage(word string) bool {
	if _, err := reference.Parse(word); err != nil {
		return false
	}
	first, rest, nested := strings.Cut(word, "/")
	return strings.ContainsAny(word, ":@") || nested && rest != "" && strings.Contains(first, ".")
}

// find returns what words stand for: containers by whatever they are called (see
// package lookup), and images. A word that no container is called is an image,
// unless one is called nearly so: then it is wrong.
func (g *global) find(ctx context.Context, instance *oneshot.Instance, words []string) (n named, wrong []error) {
	var all []sdk.Container
	if slices.Contains(neededFor(words), kind.Watcher) {
		var failures []error
		all, failures = instance.Containers(ctx)
		if ctx.Err() != nil {
			return n, []error{ctx.Err()}
		}
		for _, err := range failures {
			fmt.Fprintln(g.stderr, "dogwatch:", err)
		}
	}
	for _, word := range words {
		found := lookup.Containers(all, word)
		_, err := reference.Parse(word)
		switch {
		case looksLikeImage(word):
			n.images = append(n.images, word)
		case len(found) > 0:
			n.add(found)
		case err != nil:
			wrong = append(wrong, lookup.Unknown(all, word))
		case lookup.Nearest(all, word) != "":
			wrong = append(wrong, fmt.Errorf("%w (the image is %s:TAG)", lookup.Unknown(all, word), word))
		default:
			fmt.Fprintf(g.stderr, "dogwatch: no container is called %s, so it is taken for an image\n", word)
			n.images = append(n.images, word)
		}
	}
	return n, wrong
}

// add adds containers that are not there yet.
func (n *named) add(found []sdk.Container) {
	for _, c := range found {
		known := func(k sdk.Container) bool { return k.Watcher == c.Watcher && k.ID == c.ID }
		if !slices.ContainsFunc(n.containers, known) {
			n.containers = append(n.containers, c)
		}
	}
}

// findOne is find for a word that must stand for one thing; container is nil when that is an image.
func (g *global) findOne(
	ctx context.Context, instance *oneshot.Instance, word string,
) (container *sdk.Container, img string, err error) {
	n, wrong := g.find(ctx, instance, []string{word})
	switch {
	case len(wrong) > 0:
		return nil, "", errors.Join(wrong...)
	case len(n.images) == 1:
		return nil, n.images[0], nil
	}
	c, err := lookup.One(n.containers, word)
	return &c, "", err
}
