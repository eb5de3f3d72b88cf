package tag

import "strings"

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
