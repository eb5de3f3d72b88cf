package tag

import (
	"cmp"
	"slices"
	"strings"
)

// maxSpecific is how many tags SpecificTags returns.
const maxSpecific = 200

// SpecificTags returns the tags of a repository that may name the version of the image behind
// current, the most probable first: for 16-alpine, which stands for more specific versions,
// those; for a tag without a version, such as latest or lts-alpine, all versions with its
// suffix. Releases come before prereleases and dates, and of one version the most precise tag.
func SpecificTags(current string, tags []string) []string {
	type named struct {
		tag string
		version
	}
	var running, v version
	isVersion := running.read(current, reading{})
	suffix := suffixOf(current)
	var found []named
	for _, tag := range tags {
		if tag == current || !v.read(tag, reading{}) {
			continue
		}
		switch {
		case isVersion:
			if len(v.main) <= len(running.main) || !slices.Equal(v.main[:len(running.main)], running.main) ||
				!moreSpecific(&v, &running) {
				continue
			}
		case !hasSuffix(&v, suffix):
			continue
		}
		found = append(found, named{tag, v})
		v = version{} // its slices are kept
	}
	slices.SortFunc(found, func(a, b named) int {
		return cmp.Or(
			-compareBool(a.stage.release(), b.stage.release()), compareBool(a.date != 0, b.date != 0),
			-compareVersions(&a.version, &b.version), len(b.main)-len(a.main), len(a.family)-len(b.family),
			strings.Compare(a.tag, b.tag))
	})
	found = found[:min(len(found), maxSpecific)]
	names := make([]string, len(found))
	for i, n := range found {
		names[i] = n.tag
	}
	return names
}

// suffixOf returns what versions of the images behind a tag without a version end with:
// "-alpine" for lts-alpine and for alpine, "" for latest.
func suffixOf(current string) string {
	first, rest, more := strings.Cut(current, "-")
	switch {
	case first != "latest" && first != "release" && !isChannel(first):
		return "-" + current
	case more:
		return "-" + rest
	}
	return ""
}

// hasSuffix reports whether a version has a suffix, perhaps behind a revision of its own.
func hasSuffix(v *version, suffix string) bool {
	if string(v.family) == suffix || v.rest == suffix {
		return true
	}
	rest, revised := withoutRevision(v.family)
	return revised && string(rest) == suffix
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
