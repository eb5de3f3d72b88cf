package tag

import "strings"

// readPrefix takes the stage from a prefix such as "nightly-".
func (v *version) readPrefix() {
	for i := 0; i < len(v.prefix); {
		word := letters(v.prefix[i:])
		if found := stageOf(word); len(word) > 1 && !found.release() && v.stage.release() {
			v.stage = found
			if found.channel() {
				v.family = append(append(v.family, word...), '-')
			}
		}
		i += max(len(word), 1)
	}
}

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

// usualNumbers is how many numbers most versions have.
const usualNumbers = 4

// read replaces v by the version in s and reports whether there is one.
func (v *version) read(s string, how reading) bool {
	if v.main == nil {
		v.main = make([]string, 0, usualNumbers)
	}
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
