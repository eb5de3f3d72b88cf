package tag

import "strings"

// digits returns the run of digits at i and its end.
func digits(s string, i int) (run string, end int) {
	for end = i; end < len(s) && isDigit(s[end]); end++ {
	}
	return s[i:end], end
}

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

// decimal writes a number of a version.
func decimal(number string) string {
	if number == "" {
		return "0"
	}
	return number
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

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || (c >= 'a' && c <= 'f') }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }

func isSeparator(c byte) bool { return c == '-' || c == '.' || c == '_' || c == '+' }

const (
	maxText   = 256                // longer texts are not versions, as in node-semver
	maxNumber = "9007199254740991" // 2^53-1: the largest that JavaScript clients can count
)
