package tag

import (
	"cmp"
	"strings"
)

// stage is how near a version is to a release, or how far beyond. The order of the
// constants is the order of versions with the same numbers.
type stage int

const (
	experimental stage = iota + 1
	pullRequest
	development
	nightly
	canary
	edge
	unstable
	insider
	next
	snapshot // the first that is not a channel
	alpha
	beta
	milestone
	preview
	earlyAccess
	releaseCandidate
	stable
	patched
)

// channel reports whether a word without a number names a stream of images that no
// release ends (1.25-dev, 1.21-nightly), unlike 2.0.0-beta.
func (s stage) channel() bool { return s < snapshot }

// release reports whether a version of this stage is a release.
func (s stage) release() bool { return s >= stable }

// stageOf returns the stage that a word means, stable for all other words.
func stageOf(letters string) stage {
	switch strings.ToLower(letters) {
	case "exp", "experimental":
		return experimental
	case "pr":
		return pullRequest
	case "dev", "develop", "development":
		return development
	case "nightly", "daily":
		return nightly
	case "canary":
		return canary
	case "edge":
		return edge
	case "unstable":
		return unstable
	case "insider", "insiders":
		return insider
	case "next":
		return next
	case "snapshot":
		return snapshot
	case "alpha", "a":
		return alpha
	case "beta", "b":
		return beta
	case "milestone", "m":
		return milestone
	case "pre", "preview", "prerelease":
		return preview
	case "ea":
		return earlyAccess
	case "rc", "cr", "candidate", "c":
		return releaseCandidate
	case "hotfix", "patch", "post", "security":
		return patched
	}
	return stable
}

// fixedNames are the words whose digits are no version: an image for another
// architecture is never newer. Words without digits need no entry.
var fixedNames = [...]string{
	"aarch64", "amd64", "amd64v2", "amd64v3", "arm32", "arm32v5", "arm32v6", "arm32v7", "arm64", "arm64v8",
	"arm-v5", "arm-v6", "arm-v7", "arm-v8", "arm_v6", "arm_v7", "armv5", "armv6", "armv6l", "armv7", "armv7l", "armv8",
	"i386", "i686", "k3s", "k8s", "loong64", "md5", "mips64", "mips64le", "ppc64", "ppc64le", "riscv64", "s390x",
	"sha1", "sha256", "sha512", "win32", "win64", "x64", "x86", "x86-64", "x86_64",
}

// fixedName returns the length of the fixed name that s begins with, or 0.
func fixedName(s string) int {
	if s == "" || strings.IndexByte("aiklmprswx", s[0]) < 0 {
		return 0
	}
	longest := 0
	for _, name := range fixedNames {
		n := len(name)
		if n > longest && strings.HasPrefix(s, name) && (len(s) == n || !isAlnum(s[n])) {
			longest = n
		}
	}
	return longest
}

// isLine reports whether a word names a runtime or a host whose number says what an
// image is for, not how new it is.
func isLine(letters string) bool {
	if letters == "cu" { // CUDA; CU is a cumulative update
		return true
	}
	switch strings.ToLower(letters) {
	case "amazoncorretto", "corretto", "graalvm", "java", "jdk", "jre", "liberica", "openjdk", "sapmachine", "scala",
		"semeru", "temurin", "zulu",
		"dotnet", "go", "golang", "node", "nodejs", "otp", "php", "py", "python", "ruby",
		"pg", "postgres", "postgresql",
		"cuda", "cudnn", "gfx", "jp", "rocm",
		"ltsc", "nanoserver", "servercore", "windows", "windowsservercore":
		return true
	}
	return false
}

// namesNoVersion reports whether a prefix makes the numbers after it part of a name: the
// pg16 of latest-pg16 and the alpine3.20 of lts-alpine3.20 say what a channel is for, and
// the 123 of pr-123 which change.
func namesNoVersion(prefix string, count int) bool {
	first, last := "", ""
	for i := 0; i < len(prefix); {
		word := letters(prefix[i:])
		switch {
		case word == "latest":
			return true
		case first == "":
			first = word
		case word != "":
			last = word
		}
		i += max(len(word), 1)
	}
	switch cmp.Or(last, first) {
	case "pr", "pull", "mr", "issue":
		return count == 1
	}
	return isChannel(first) && len(last) > 0 && last != "v" && strings.HasSuffix(prefix, last)
}

// isChannel reports whether a word names a stream of images.
func isChannel(word string) bool {
	switch word {
	case "stable", "lts", "current", "mainline", "rolling":
		return true
	}
	return stageOf(word).channel()
}

// hashAt returns the length of the commit hash at i, where a word begins, or 0. It is
// seven or more hexadecimal digits with a letter among them, or the g1234567 of git
// describe. One short hash in thirty has no letter: after "git-" and the like, each word
// that can be a hash is one, and elsewhere a number as long as a short hash. What begins
// with a date or a year is none.
func hashAt(s string, i int) int {
	word := word(s[i:])
	n := len(word)
	if n > 7 && word[0] == 'g' && hexDigits(word[1:]) == n-1 {
		return n
	}
	if n < 7 || hexDigits(word) < n || isDate(word) {
		return 0
	}
	_, leading := digits(word, 0)
	if leading < n || namesHash(s[:i]) {
		return n
	}
	if n > 9 || isYear(word[:4]) || (i > 0 && s[i-1] != '-') || strings.HasPrefix(s[i+n:], ".") {
		return 0
	}
	return n
}

// namesHash reports whether what stands before a word says that it is a commit hash.
func namesHash(before string) bool {
	return strings.HasSuffix(before, "git-") || strings.HasSuffix(before, "sha-") || strings.HasSuffix(before, "commit-")
}
