package tag

import (
	"slices"
	"strings"
)

// Floats reports whether current is a version that stands for more specific ones
// among the tags of its repository: its own text with further numbers, and of the
// same family, as 16.4-alpine and 16.4.1-alpine are for 16-alpine. Publishers move
// such a tag from one of them to the next. Rules do not matter: the names are the
// publisher's.
func Floats(current string, tags []string) bool {
	var running, other version
	start, end, hash := span(current)
	if hash || start == end || !running.read(current, reading{}) || running.date != 0 {
		return false // a second build of a day does not move the first
	}
	begin := current[:end] + "."
	return slices.ContainsFunc(tags, func(tag string) bool {
		return strings.HasPrefix(tag, begin) && other.read(tag, reading{}) && moreSpecific(&other, &running)
	})
}

// moreSpecific reports whether v, which begins with the numbers of general, has
// more of them, and nothing else that general has not but a revision.
func moreSpecific(v, general *version) bool {
	if len(v.main) <= len(general.main) || v.stage != general.stage || !slices.Equal(v.count, general.count) {
		return false
	}
	if sameFamily(v, general) {
		return slices.Equal(v.numbers, general.numbers)
	}
	rest, revised := withoutRevision(v.family)
	return revised && string(rest) == string(general.family)
}
