package protocol

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// FitContainer leaves out the labels of a listed container that exceed the bounds, so that one
// container does not cost its watcher the whole list. Labels of the image go first, and without a
// word: they describe. Of others the container's error says it, so that no rule is missed unnoticed.
func FitContainer(c *pluginv1.Container) {
	ofImage := func(name string) bool { return slices.Contains(c.ImageLabels, name) }
	kept, dropped := fitLabels(c.Labels, MaxLabel, ofImage)
	if len(dropped) == 0 {
		return
	}
	ruling := slices.DeleteFunc(dropped, ofImage)
	if len(ruling) > 0 && c.Error == "" {
		c.Error = fmt.Sprintf("%d of its labels are not read, such as %.64s: a container may have %d labels of %d KiB each",
			len(ruling), ruling[0], MaxLabels, MaxLabel>>10)
	}
	c.Labels = kept
	c.ImageLabels = slices.DeleteFunc(slices.Clone(c.ImageLabels), func(name string) bool {
		_, there := kept[name]
		return !there
	})
}

// FitImageConfig leaves out the labels of an image that exceed the bounds.
func FitImageConfig(c *pluginv1.ImageConfig) {
	c.Labels, _ = fitLabels(c.GetLabels(), MaxText, func(string) bool { return false })
}

// fitLabels returns the labels that have at most most bytes, and of them the first MaxLabels by
// name, those that are less last; and the names of the others. It changes no map.
func fitLabels(labels map[string]string, most int, less func(string) bool) (kept map[string]string, dropped []string) {
	fits := func(name string) bool { return len(name)+len(labels[name]) <= most }
	all := len(labels) <= MaxLabels
	for name, value := range labels {
		all = all && len(name)+len(value) <= most
	}
	if all {
		return labels, nil
	}
	names := slices.Collect(maps.Keys(labels))
	rank := func(name string) int {
		switch {
		case !fits(name):
			return 2
		case less(name):
			return 1
		}
		return 0
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
	kept = map[string]string{}
	for _, name := range names {
		if len(kept) < MaxLabels && fits(name) {
			kept[name] = labels[name]
		} else {
			dropped = append(dropped, name)
		}
	}
	return kept, dropped
}
