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
	// stage is what follows the numbers of a prerelease: "-beta.2".
	stage string
}

// versionText is a version behind what release tags have in front: v1.2.3,
// release-1.2, grafana-11.0.0, RELEASE.2024-01-02. A name with more words, such as
// that of a chart in the same repository, is none.
var versionText = lazyregexp.New(`^(?:([A-Za-z]+)[-_./@ ]?)?[vV]?(\d{1,9}(?:[._-]\d{1,9})*)(.*)$`)

// commit is the hash of a commit, which images of branches have as their version. One
// without any letter cannot be distinguished from a number.
var commit = lazyregexp.New(`^[0-9]+[a-f][0-9a-f]*$`)

// prereleaseWord begins what follows the numbers of a version before its release.
var prereleaseWord = lazyregexp.New(`(?i)^[-_.+]?(alpha|beta|rc|pre|dev|nightly|snapshot|canary|next|edge|[ab]\d)`)

// parseVersion reads a version; names are what a tag may begin with beside the usual words.
// It is false for a text without one, such as latest.
func parseVersion(text string, names ...string) (version, bool) {
	text = strings.TrimSpace(text)
	for _, name := range names {
		if name != "" && len(text) > len(name) && strings.EqualFold(text[:len(name)], name) {
			text = strings.TrimLeft(text[len(name):], "-_./@ ")
			break
		}
	}
	m := versionText().FindStringSubmatch(text)
	if m == nil || !isVersionPrefix(m[1]) || commit().MatchString(text) {
		return version{}, false
	}
	v := version{prerelease: prereleaseWord().MatchString(m[3])}
	if v.prerelease {
		v.stage = strings.ToLower(m[3])
	}
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
		return compareStages(v.stage, other.stage)
	case v.prerelease:
		return -1
	}
	return 1
}

// compareStages compares word by word, and number by number: -beta.2 is below -beta.10.
func compareStages(a, b string) int {
	for a != "" && b != "" {
		numberA, numberB := digits(a), digits(b)
		if numberA == "" || numberB == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		a, b = a[len(numberA):], b[len(numberB):]
		numberA, numberB = strings.TrimLeft(numberA, "0"), strings.TrimLeft(numberB, "0")
		if order := cmp.Or(len(numberA)-len(numberB), strings.Compare(numberA, numberB)); order != 0 {
			return order
		}
	}
	return len(a) - len(b)
}

// digits returns the digits that a text begins with.
func digits(text string) string {
	return text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
}

func (v version) number(i int) int {
	if i < len(v.numbers) {
		return v.numbers[i]
	}
	return 0
}

// covers reports whether other is v or more precise: 1.27 covers 1.27.3.
func (v version) covers(other version) bool {
	return len(other.numbers) >= len(v.numbers) && version{
		numbers: other.numbers[:len(v.numbers)],
	}.compare(version{numbers: v.numbers}) == 0
}
