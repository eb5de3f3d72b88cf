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

// usualNumbers is how many numbers most versions have.
const usualNumbers = 4

// read replaces v by the version in s and reports whether there is one.
func (v *version) read(s string, how reading) bool {
	if v.main == nil {
		v.main = make([]string, 0, usualNumbers)
	}
	v.main, v.count, v.family, v.numbers, v.suffixVersions = v.main[:0], v.count[:0], v.family[:0], v.numbers[:0],
		v.suffixVersions[:0]
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
