package tag

import (
	"slices"
	"strings"
)

// base is the distribution that an image is built on, as its tag names it: alpine3.21,
// debian-11, ubi8. Its numbers are part of the numbers of the suffix.
type base struct {
	text     string // as written; "" when there is none
	from, to int    // its place among the numbers
}

// baseAt returns the base whose first number is at s[i], the nth number of the suffix s.
// With bare, a number of two digits right after the version is one, too.
func baseAt(s string, i, nth int, bare bool) base {
	if bare && nth == 0 && i == 1 {
		if run, end := digits(s, i); len(run) == 2 {
			return base{text: s[i:end], from: 0, to: 1}
		}
	}
	word := i
	if word > 0 && (s[word-1] == '-' || s[word-1] == '_') {
		word--
	}
	end := word
	for word > 0 && isLetter(s[word-1]) {
		word--
	}
	numbers := releaseNumbers(s[word:end])
	run, last := digits(s, i)
	if numbers == 0 || len(run) > len("2023") {
		return base{}
	}
	b := base{from: nth, to: nth + 1}
	if numbers > 1 && last+1 < len(s) && s[last] == '.' && isDigit(s[last+1]) {
		_, last = digits(s, last+1)
		b.to++
	} else if end < i && (numbers > 1 || compareNumber(run, "7") < 0) {
		return base{} // -alpine-1 and -debian-2 count builds; no distribution in use is that old
	}
	b.text = s[word:last]
	return b
}

// releaseNumbers returns how many numbers name a release of the distribution that a word
// stands for, 0 when it stands for none. Those of UBI and Debian have a second one that
// counts updates of the same release.
func releaseNumbers(word string) int {
	switch strings.ToLower(word) {
	case "alpine", "azl", "azurelinux", "busybox", "leap", "mariner", "opensuse", "photon", "ubuntu":
		return 2
	case "al", "alma", "almalinux", "amazonlinux", "amzn", "bci", "centos", "deb", "debian", "el", "fc", "fedora",
		"freebsd",
		"ol", "oraclelinux", "rhel", "rocky", "rockylinux", "sle", "sles", "stream", "ubi":
		return 1
	}
	return 0
}

// lead returns the numbers before the base: the 1 of 7.9.0-1-ubi8.
func (v *version) lead() []string { return v.numbers[:v.base.from] }

// release returns the numbers of the base.
func (v *version) release() []string { return v.numbers[v.base.from:v.base.to] }

// bareBase reports whether the bare number after the version names a base, as in
// Node-RED's 3.1.14-18, and does not count builds: the same version is there with other
// numbers of two digits, and with none that comes right before or after it or has one digit;
// and such a number is there with two versions. Where nothing but the number moves, only
// what looks like releases with long support is a base: 16, 18, 20.
func bareBase(current string, running *version, tags []string) bool {
	rest := running.rest
	if len(rest) < len("-18") || rest[0] != '-' || !strings.HasSuffix(current, rest) {
		return false
	}
	head := current[:len(current)-len(rest)+1]
	own := bareNumber(current, len(head))
	if len(own) != 2 {
		return false
	}
	numbers := []string{own}
	for _, tag := range tags {
		if !strings.HasPrefix(tag, head) {
			continue
		}
		switch other := bareNumber(tag, len(head)); {
		case other == "" || slices.Contains(numbers, other):
		case len(other) != 2 || neighbours(own, other):
			return false
		default:
			numbers = append(numbers, other)
		}
	}
	return len(numbers) > 1 && (recurs(tags) || longSupport(numbers))
}

// bareNumber returns the number at i of a tag; "" when there is none, or more than a number.
func bareNumber(tag string, i int) string {
	number, end := digits(tag, i)
	if end < len(tag) && tag[end] != '-' && tag[end] != '_' {
		return ""
	}
	return number
}

// recurs reports whether a bare number of two digits is there after two versions.
func recurs(tags []string) bool {
	after := map[string]string{}
	for _, tag := range tags {
		_, end, hash := span(tag)
		if hash || end == len(tag) || tag[end] != '-' {
			continue
		}
		number := bareNumber(tag, end+1)
		if before, known := after[number]; known && before != tag[:end] {
			return true
		}
		if len(number) == 2 {
			after[number] = tag[:end]
		}
	}
	return false
}

// longSupport reports whether numbers are like those of releases with long support: every
// other one, and all even. A count of builds is hardly so for three times.
func longSupport(numbers []string) bool {
	sorted := slices.Sorted(slices.Values(numbers))
	for i, n := range sorted {
		if (n[1]-'0')%2 != 0 || i > 0 && distance(n, sorted[i-1]) != 2 {
			return false
		}
	}
	return len(sorted) > 2
}

// distance returns how much a number of two digits is above another one.
func distance(a, b string) int { return (int(a[0])-int(b[0]))*10 + int(a[1]) - int(b[1]) }

// neighbours reports whether two numbers of two digits follow each other.
func neighbours(a, b string) bool {
	step := distance(a, b)
	return step == 1 || step == -1
}

// standing is how a tag stands to the current one. Of two tags the one that stands higher
// is offered, whatever their versions.
type standing int

const (
	behind  standing = iota // not newer
	rebuilt                 // the same version, built later on another base
	respun                  // the same version, built later on the base of the current tag
	offBase                 // a newer version on another base
	ahead                   // a newer version on the base of the current tag
)

// standing compares v with the running version.
func (d *decision) standing(v *version) standing {
	running := &d.running
	core := compareCore(v, running)
	switch sameBase := compareLists(v.release(), running.release()) == 0; {
	case core > 0 && sameBase:
		return ahead
	case core > 0:
		return offBase
	case core < 0 || !sameFamily(v, running):
		return behind
	case sameBase && compareLists(v.numbers, running.numbers) > 0:
		return respun
	case !sameBase && compareLists(v.lead(), running.lead()) > 0:
		return rebuilt
	}
	return behind
}

// nearer compares two releases of a base by how near they are to that of the current tag: the next
// one before later ones, and these before earlier ones.
func (d *decision) nearer(a, b *version) int {
	current := d.running.release()
	aboveA, aboveB := compareLists(a.release(), current), compareLists(b.release(), current)
	switch c := compareLists(a.release(), b.release()); {
	case aboveA >= 0 && aboveB >= 0:
		return -c
	default:
		return c
	}
}
