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
	if hash || start == end || !running.read(current, floatingReading) {
		return false
	}
	begin := current[:end] + "."
	return slices.ContainsFunc(tags, func(tag string) bool {
		return strings.HasPrefix(tag, begin) && other.read(tag, floatingReading) && moreSpecific(&other, &running)
	})
}

// floatingReading keeps apart what differs in a runtime: jdk17 and jdk21.
var floatingReading = reading{pin: true}

// moreSpecific reports whether v, which begins with the numbers of general, has
// more of them, and nothing else that general has not but a revision.
func moreSpecific(v, general *version) bool {
	if len(v.main) <= len(general.main) || v.stage != general.stage || v.date != general.date || !slices.Equal(v.count, general.count) {
		return false
	}
	if sameFamily(v, general) {
		return slices.Equal(v.numbers, general.numbers)
	}
	rest, revised := withoutRevision(v.family)
	return revised && string(rest) == string(general.family)
}
