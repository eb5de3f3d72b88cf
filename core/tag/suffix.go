package tag

import "strings"

// Bytes that stand for something in a family; none of them can be part of a tag.
const (
	foldedNumber = '#'
	foldedLetter = '?'
	foldedHash   = '*'
)

// readPrefix takes the stage from a prefix such as "nightly-".
func (v *version) readPrefix() {
	for i := 0; i < len(v.prefix); {
		letters := letters(v.prefix[i:])
		if len(letters) > 1 && v.stage == stable {
			v.stage = stageOf(letters)
		}
		i += max(len(letters), 1)
	}
}

// readSuffix splits v.rest into stage, family and numbers.
func (v *version) readSuffix(pin bool) {
	s := v.rest
	for i := 0; i < len(s); {
		if i > 0 && wordStart(s, i) {
			if n := fixedName(s[i:]); n > 0 {
				v.family = append(v.family, s[i:i+n]...)
				i += n
				continue
			}
			if w := word(s[i:]); isHash(w) {
				v.family = append(v.family, foldedHash)
				i += len(w)
				continue
			}
		}
		if isDigit(s[i]) {
			var number string
			number, i = digits(s, i)
			v.family = append(v.family, foldedNumber)
			v.numbers = append(v.numbers, strings.TrimLeft(number, "0"))
			continue
		}
		letters := letters(s[i:])
		switch {
		case letters == "":
			v.family = append(v.family, s[i])
			i++
		case v.readStage(s, i, letters):
			i = v.readCount(s, i+len(letters))
		case i == 0 && len(letters) == 1 && (len(s) == 1 || isSeparator(s[1])):
			v.family = append(v.family, foldedLetter)
			v.numbers = append(v.numbers, letters)
			i++
		default:
			n := len(letters)
			if pin && isLine(letters) {
				n = lineEnd(s[i:], n)
			}
			v.family = append(v.family, s[i:i+n]...)
			i += n
		}
	}
}

// readStage sets the stage if the letters at i are a prerelease word, and takes the
// separator before the word from the family.
func (v *version) readStage(s string, i int, letters string) bool {
	found := stageOf(letters)
	if found == stable || (len(letters) == 1 && !initial(s, i, found)) {
		return false
	}
	if n := len(v.family); i > 0 && n > 0 && isSeparator(s[i-1]) {
		v.family = v.family[:n-1]
	}
	if v.stage == stable {
		v.stage = found
	}
	return true
}

// initial reports whether the letter at i stands for a stage: 1.0b2, -b.2 and -M3 do,
// but -b12 is a build and 1.1.1b a patch.
func initial(s string, i int, found stage) bool {
	after := s[i+1:]
	switch {
	case after == "" || (i > 0 && !isSeparator(s[i-1])):
		return false
	case isDigit(after[0]):
		return i == 0 || found == milestone
	}
	return i > 0 && len(after) > 1 && after[0] == '.' && isDigit(after[1])
}

// readCount reads the numbers of a stage at i, as in rc2, rc.2, beta-3 and
// preview.1.23110.8, and returns where they end.
func (v *version) readCount(s string, i int) int {
	run, end := digits(s, i)
	if run == "" && i < len(s) && isSeparator(s[i]) {
		run, end = digits(s, i+1)
		if end < len(s) && !isSeparator(s[end]) {
			return i // a word that begins with digits, such as a hash
		}
	}
	if run == "" {
		return i
	}
	v.count = append(v.count, strings.TrimLeft(run, "0"))
	for end+1 < len(s) && s[end] == '.' && isDigit(s[end+1]) {
		run, end = digits(s, end+1)
		v.count = append(v.count, strings.TrimLeft(run, "0"))
	}
	return end
}

// stage is how near a version is to a release. The order of the constants is the order
// of versions with the same numbers.
type stage int

const (
	experimental stage = iota + 1
	pullRequest
	development
	snapshot
	nightly
	canary
	edge
	unstable
	insider
	next
	alpha
	beta
	milestone
	preview
	earlyAccess
	candidate
	stable
)

// stageOf returns the stage that a word means, stable for all other words.
func stageOf(letters string) stage {
	switch strings.ToLower(letters) {
	case "exp", "experimental":
		return experimental
	case "pr":
		return pullRequest
	case "dev", "develop", "development":
		return development
	case "snapshot":
		return snapshot
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
		return candidate
	}
	return stable
}

// fixedNames are the words whose digits are no version: an image for another
// architecture is never newer. Words without digits need no entry.
var fixedNames = [...]string{
	"aarch64", "amd64", "amd64v2", "amd64v3", "arm32v5", "arm32v6", "arm32v7", "arm64", "arm64v8",
	"arm-v5", "arm-v6", "arm-v7", "arm-v8", "arm_v6", "arm_v7", "armv5", "armv6", "armv6l", "armv7", "armv7l", "armv8",
	"i386", "i686", "k3s", "k8s", "loong64", "md5", "mips64", "mips64le", "ppc64", "ppc64le", "riscv64", "s390x",
	"sha1", "sha256", "sha512", "win32", "win64", "x64", "x86", "x86-64", "x86_64",
}

// fixedName returns the length of the fixed name that s begins with, or 0.
func fixedName(s string) int {
	if strings.IndexByte("aiklmprswx", s[0]) < 0 {
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
	switch strings.ToLower(letters) {
	case "corretto", "cu", "cuda", "cudnn", "dotnet", "java", "jdk", "jre", "ltsc", "nanoserver", "node", "nodejs",
		"openjdk", "pg", "php", "postgres", "postgresql", "py", "python", "rocm", "ruby", "scala", "servercore",
		"temurin", "windows", "windowsservercore", "zulu":
		return true
	}
	return false
}

// lineEnd returns the end of the number that follows the n letters of a line, directly
// or after a hyphen; n if there is none.
func lineEnd(s string, n int) int {
	i := n
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i >= len(s) || !isDigit(s[i]) {
		return n
	}
	return spanEnd(s, i)
}

// lineName returns the length of a line and its number at the beginning of s when a
// version follows, as in pg14-v0.2.0; else 0, because php8.2-fpm is version 8.2.
func lineName(s string) int {
	n := len(letters(s))
	if n == 0 || n == len(s) || !isDigit(s[n]) || !isLine(s[:n]) {
		return 0
	}
	end := lineEnd(s, n)
	after := end + 1
	if after < len(s) && (s[after] == 'v' || s[after] == 'V') {
		after++
	}
	if after < len(s) && isSeparator(s[end]) && isDigit(s[after]) {
		return end
	}
	return 0
}

// isHash reports whether a word is a commit hash: seven or more hexadecimal digits
// with a letter among them, or the g1234567 of git describe. A date with a letter
// after it is none.
func isHash(word string) bool {
	if len(word) > 7 && word[0] == 'g' {
		return hexDigits(word[1:]) == len(word)-1
	}
	_, leading := digits(word, 0)
	return len(word) >= 7 && hexDigits(word) == len(word) && leading < len(word) && !isDate(word)
}

// hexDigits returns how many hexadecimal digits s begins with.
func hexDigits(s string) int {
	for i := range len(s) {
		if !isHex(s[i]) {
			return i
		}
	}
	return len(s)
}

// wordStart reports whether a word of letters and digits may begin at i.
func wordStart(s string, i int) bool { return i == 0 || !isAlnum(s[i-1]) }

// word returns the letters and digits that s begins with.
func word(s string) string {
	for i := range len(s) {
		if !isAlnum(s[i]) {
			return s[:i]
		}
	}
	return s
}

// letters returns the letters that s begins with.
func letters(s string) string {
	for i := range len(s) {
		if !isLetter(s[i]) {
			return s[:i]
		}
	}
	return s
}

func isDigit(c byte) bool     { return c >= '0' && c <= '9' }
func isHex(c byte) bool       { return isDigit(c) || (c >= 'a' && c <= 'f') }
func isLetter(c byte) bool    { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isAlnum(c byte) bool     { return isDigit(c) || isLetter(c) }
func isSeparator(c byte) bool { return c == '-' || c == '.' || c == '_' || c == '+' }
