package notes

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

// version is what a tag or the name of a release says in numbers.
type version struct {
	numbers    []int
	prerelease bool
}

// versionText is a version behind what release tags have in front: v1.2.3,
// release-1.2, grafana-11.0.0, RELEASE.2024-01-02. A name with more words, such as
// that of a chart in the same repository, is none.
var versionText = lazyregexp.New(`^(?:([A-Za-z]+)[-_./@ ]?)?[vV]?(\d{1,9}(?:[._-]\d{1,9})*)(.*)$`)

// prereleaseWord begins what follows the numbers of a version before its release.
var prereleaseWord = lazyregexp.New(`(?i)^[-_.+]?(alpha|beta|rc|pre|dev|nightly|snapshot|canary|next|edge|[ab]\d)`)

// parseVersion reads a version; name is what a tag may begin with beside the usual words.
// It is false for a text without one, such as latest.
func parseVersion(text, name string) (version, bool) {
	text = strings.TrimSpace(text)
	if name != "" && len(text) > len(name) && strings.EqualFold(text[:len(name)], name) {
		text = strings.TrimLeft(text[len(name):], "-_./@ ")
	}
	m := versionText().FindStringSubmatch(text)
	if m == nil || !isVersionPrefix(m[1]) {
		return version{}, false
	}
	v := version{prerelease: prereleaseWord().MatchString(m[3])}
	for _, number := range strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune("._-", r) }) {
		n, err := strconv.Atoi(number)
		if err != nil {
			return version{}, false
		}
		v.numbers = append(v.numbers, n)
	}
	return v, true
}

func isVersionPrefix(word string) bool {
	switch strings.ToLower(word) {
	case "", "v", "release", "version", "rel", "stable", "server":
		return true
	}
	return false
}

// compare compares numbers; a missing one is zero. A prerelease is below its release.
func (v version) compare(other version) int {
	for i := range max(len(v.numbers), len(other.numbers)) {
		if order := cmp.Compare(v.number(i), other.number(i)); order != 0 {
			return order
		}
	}
	switch {
	case v.prerelease == other.prerelease:
		return 0
	case v.prerelease:
		return -1
	}
	return 1
}

func (v version) number(i int) int {
	if i < len(v.numbers) {
		return v.numbers[i]
	}
	return 0
}

// covers reports whether other is v or more precise: 1.27 covers 1.27.3.
func (v version) covers(other version) bool {
	return len(other.numbers) >= len(v.numbers) && version{numbers: other.numbers[:len(v.numbers)]}.compare(version{numbers: v.numbers}) == 0
}
