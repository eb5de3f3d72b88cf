package tag

import "strings"

// nameBefore returns the length of a word with a glued number at the beginning of s when
// the version follows, as in pg14-v0.2.0, alpine3.19-1.2.3 and windows1809-amd64-2.19.4;
// else 0, because php8.2-fpm is version 8.2.
func nameBefore(s string) int {
	n := len(letters(s))
	if n < 2 || n == len(s) || !isDigit(s[n]) {
		return 0
	}
	end := spanEnd(s, n)
	if end == len(s) || !isSeparator(s[end]) {
		return 0
	}
	after := s[end+1:]
	if name := fixedName(after); name > 0 && name < len(after) && isSeparator(after[name]) {
		after = after[name+1:]
	}
	sure := isLine(s[:n])
	if after != "" && after[0]|0x20 == 'v' {
		after, sure = after[1:], true
	}
	if after == "" || !isDigit(after[0]) {
		return 0
	}
	if _, first := digits(after, 0); sure || spanEnd(after, 0) > first {
		return end
	}
	return 0
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

// isRespin reports whether numbers are a date and the count of what was built again from
// it: 20240114.1, 2024-01-14.1.
func isRespin(numbers string) bool {
	dot := strings.IndexByte(numbers, '.')
	if dot < 0 || len(numbers)-dot > len(".999") || strings.IndexByte(numbers[dot+1:], '.') >= 0 {
		return false
	}
	return isDashedDate(numbers[:dot]) || dateDigits(numbers[:dot]) > 0
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
