package tag

import (
	"bytes"
	"strings"
)

const (
	maxText   = 256                // longer texts are not versions, as in node-semver
	maxNumber = "9007199254740991" // 2^53-1: the largest that JavaScript clients can count
)

// version is a text read as a version. Its strings are pieces of the text, numbers are
// decimal without leading zeros ("" is zero), and its slices are reused by the next
// read, so that reading many tags allocates nothing.
type version struct {
	prefix  string   // what stands before the numbers: "v", "version-"
	main    []string // the numbers: 1.25.0
	month   month    // whether they begin like 22.04, a year and a month
	date    int      // kind of date: digits of 20240115 or 2024011501, dashedDate, or 0
	rest    string   // what stands after the numbers, as written
	stage   stage    // stable, or how near to it
	count   []string // the numbers of the stage: 2 in rc.2
	family  []byte   // the suffix without stage, its numbers folded
	numbers []string // the folded numbers
	base    base     // which of them name the base, if the reading asks for it

	components []component // which of the folded numbers dots join
}

// reading says what a reader makes of the numbers of a suffix.
type reading struct {
	pin   bool // numbers of runtimes and hosts name the family
	bases bool // numbers of distributions name the base: alpine3.21, debian-11
	bare  bool // and so does a bare number after the version: the 18 of 3.1.14-18
}

// dashedDate is the date kind of 2024-01-15.
const dashedDate = 1

// read replaces v by the version in s and reports whether there is one.
func (v *version) read(s string, how reading) bool {
	v.main, v.count, v.family, v.numbers, v.components = v.main[:0], v.count[:0], v.family[:0], v.numbers[:0],
		v.components[:0]
	v.date, v.stage, v.base = 0, stable, base{}
	s = strings.TrimSpace(s)
	start, end, hash := span(s)
	v.prefix, v.rest = s[:start], s[end:]
	if start == end || hash || len(s) > maxText {
		return false
	}
	first, _ := digits(s, start)
	v.date = dateDigits(first)
	for i := start; i < end; i++ { // the separator is one byte
		var number string
		number, i = digits(s, i)
		number = strings.TrimLeft(number, "0")
		if compareNumber(number, maxNumber) > 0 {
			return false
		}
		v.main = append(v.main, number)
	}
	if strings.IndexByte(s[start:end], '-') > 0 {
		v.date = dashedDate
	}
	v.month = monthOf(s[start:end])
	if len(v.main) == 1 && len(first) > 1 && first[0] == '0' {
		return false
	}
	if namesNoVersion(v.prefix, len(v.main)) {
		return false
	}
	v.readPrefix()
	v.readSuffix(how)
	return true
}

// span finds the numbers of s: s[start:end], equal if there are none. When the first
// word with a digit is a commit hash, span returns that word and hash is true.
func span(s string) (start, end int, hash bool) {
	for i := 0; i < len(s); {
		if wordStart(s, i) {
			if n := max(fixedName(s[i:]), nameBefore(s[i:])); n > 0 {
				i += n
				continue
			}
			if n := hashAt(s, i); n > 0 {
				return i, i + n, true
			}
		}
		if isDigit(s[i]) {
			return i, spanEnd(s, i), false
		}
		i++
	}
	return 0, 0, false
}

// spanEnd returns the end of the numbers that begin at i.
func spanEnd(s string, i int) int {
	_, end := digits(s, i)
	if isDashedDate(s[i:]) {
		end = i + len("2024-01-15")
	}
	for end+1 < len(s) && s[end] == '.' && isDigit(s[end+1]) {
		_, end = digits(s, end+1)
	}
	return end
}

// digits returns the run of digits at i and its end.
func digits(s string, i int) (run string, end int) {
	for end = i; end < len(s) && isDigit(s[end]); end++ {
	}
	return s[i:end], end
}

// calendar reports whether v begins with a year, or with a number that is too long for
// anything but a date or a commit hash that happens to have no letters.
func (v *version) calendar() bool { return isYear(v.main[0]) || len(v.main[0]) >= 6 }

// month says whether numbers begin with a year of two digits and a month.
type month int

const (
	noMonth     month = iota
	likeMonth         // 23.10: perhaps, since plain versions look like it, too
	paddedMonth       // 22.04, 20.04.1: only months have a leading zero
)

func monthOf(numbers string) month {
	const n = len("22.04")
	switch {
	case len(numbers) < n || numbers[2] != '.' || !between(numbers[:2], "10", "99") ||
		(len(numbers) > n && numbers[n] != '.'):
		return noMonth
	case between(numbers[3:n], "01", "09"):
		return paddedMonth
	case between(numbers[3:n], "10", "12"):
		return likeMonth
	}
	return noMonth
}

// isRespin reports whether numbers are a date and the count of what was built again from
// it: 20240114.1, 2024-01-14.1.
func isRespin(numbers string) bool {
	dot := strings.IndexByte(numbers, '.')
	if dot < 0 || len(numbers)-dot > len(".999") || strings.IndexByte(numbers[dot+1:], '.') >= 0 {
		return false
	}
	return isDashedDate(numbers[:dot]) || dateDigits(numbers[:dot]) > 0
}

// dateDigits returns the length of a number that begins with a date: 8 for 20240115,
// 10, 12 or 14 with hours, minutes and seconds; else 0.
func dateDigits(number string) int {
	switch n := len(number); n {
	case 8, 10, 12, 14:
		if isDate(number) {
			return n
		}
	}
	return 0
}

func isDate(s string) bool {
	return len(s) >= 8 && isYear(s[:4]) && between(s[4:6], "01", "12") && between(s[6:8], "01", "31")
}

func isDashedDate(s string) bool {
	const n = len("2024-01-15")
	return len(s) >= n && isYear(s[:4]) && s[4] == '-' && between(s[5:7], "01", "12") &&
		s[7] == '-' && between(s[8:n], "01", "31") && (len(s) == n || !isDigit(s[n]))
}

func isYear(s string) bool { return len(s) == 4 && between(s, "1900", "2199") }

// between reports whether s is a number from low to high, all of the same length.
func between(s, low, high string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s >= low && s <= high
}

// compareNumber compares two decimal numbers without leading zeros.
func compareNumber(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// compareMain compares the numbers, a missing one being zero.
func compareMain(a, b *version) int {
	for i := range max(len(a.main), len(b.main)) {
		if c := compareNumber(a.part(i), b.part(i)); c != 0 {
			return c
		}
	}
	return 0
}

func (v *version) part(i int) string {
	if i < len(v.main) {
		return v.main[i]
	}
	return ""
}

// compareCore compares numbers and stage, but not the suffix.
func compareCore(a, b *version) int {
	if c := compareMain(a, b); c != 0 {
		return c
	}
	if a.stage != b.stage {
		return int(a.stage) - int(b.stage)
	}
	return compareLists(a.count, b.count)
}

// compareLists compares number by number; a list is above its own beginning.
func compareLists(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if c := compareNumber(a[i], b[i]); c != 0 {
			return c
		}
	}
	return len(a) - len(b)
}

// compareVersions is compareCore, then the numbers of the suffix if both are of one
// family. It is 0 when neither is newer, which for two families does not mean equal.
func compareVersions(a, b *version) int {
	if c := compareCore(a, b); c != 0 || !sameFamily(a, b) {
		return c
	}
	return compareLists(a.numbers, b.numbers)
}

func sameFamily(a, b *version) bool { return bytes.Equal(a.family, b.family) }

// withoutRevision returns what a family is without the revision it begins with, the count
// of how often a version was built or mended: 1.0.0-1, 1.0.0-3_slim, 1.0.0-r2-alpine, 1.0.0c.
func withoutRevision(family []byte) (rest []byte, ok bool) {
	for _, revision := range [...]string{"-#", "-r#", "-p#", "?"} {
		if rest, ok := bytes.CutPrefix(family, []byte(revision)); ok && (len(rest) == 0 || rest[0] == '-' || rest[0] == '_') {
			return rest, true
		}
	}
	return nil, false
}

// prerelease returns the first identifier of a prerelease for link templates: "rc" in
// 1.3.0-rc.1. As in WUD, any suffix of a three-part version counts, and one with an
// underscore or after a dot does not.
func (v *version) prerelease() string {
	rest, _, _ := strings.Cut(v.rest, "+")
	threePart := len(v.main) == 3 && v.date != dashedDate
	if (!threePart && v.stage.release()) || strings.Contains(rest, "_") || strings.HasPrefix(rest, ".") {
		return ""
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(rest, "-"), ".")
	if run, end := digits(id, 0); end == len(id) && end > 0 {
		return decimal(strings.TrimLeft(run, "0"))
	}
	return id
}

// decimal writes a number of a version.
func decimal(number string) string {
	if number == "" {
		return "0"
	}
	return number
}
