package tag

import (
	"slices"
	"strings"
)

const latest = "latest"

// Rolling returns the tag of a repository that moves with the newest image of the variant of
// current: latest, alpine or latest-alpine for 1.25-alpine3.19, server-latest for server-1.25.
// Where a variant without a prefix has none, it is latest; "" when there is none at all.
func Rolling(current string, tags []string) string {
	var v version
	if !v.read(current, reading{}) {
		return ""
	}
	prefix := strings.TrimRight(strings.ToLower(v.prefix), "-_.")
	switch prefix {
	case "v", "version", "release":
		prefix = ""
	default:
		prefix = strings.TrimRight(strings.TrimSuffix(v.prefix, "v"), "-_.")
	}
	suffix := strings.TrimLeft(v.rest, "-_.+")
	for _, variant := range []string{suffix, strings.TrimRight(suffix, "0123456789.-_")} {
		for _, words := range [][]string{{prefix, latest, variant}, {latest, prefix, variant}, {prefix, variant}} {
			name := strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), "-")
			if name != "" && slices.Contains(tags, name) {
				return name
			}
		}
	}
	if prefix == "" && slices.Contains(tags, latest) {
		return latest
	}
	return ""
}

// Names reports whether a tag names the version of a text, such as 1.3.2 or what stands for it: 1.3, v1.3.2,
// 1.3.2-alpine.
func Names(tag, text string) bool {
	var t, v version
	if !t.read(tag, reading{}) || !v.read(text, reading{}) || t.date != v.date {
		return false
	}
	for i, number := range t.main {
		if v.part(i) != number {
			return false
		}
	}
	return t.stage == v.stage && slices.Equal(t.count, v.count)
}
