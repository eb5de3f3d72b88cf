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

// readSuffix splits v.rest into stage, family and numbers.
func (v *version) readSuffix(how reading) {
	s := v.rest
	for i := 0; i < len(s); {
		if i > 0 && wordStart(s, i) {
			if n := fixedName(s[i:]); n > 0 {
				v.family = append(v.family, s[i:i+n]...)
				i += n
				continue
			}
			if n := hashAt(s, i); n > 0 {
				v.family = append(v.family, foldedHash)
				i += n
				continue
			}
		}
		if isDigit(s[i]) {
			if how.bases && v.base.text == "" {
				v.base = baseAt(s, i, len(v.numbers), how.bare)
			}
			number, end := digits(s, i)
			v.family = append(v.family, foldedNumber)
			v.numbers = append(v.numbers, strings.TrimLeft(number, "0"))
			v.join(i, end)
			i = end
			continue
		}
		letters := letters(s[i:])
		if end := v.readStage(s, i, letters); end > i {
			i = end
			continue
		}
		switch {
		case letters == "":
			v.family = append(v.family, s[i])
			i++
		case i == 0 && len(letters) == 1 && (len(s) == 1 || isSeparator(s[1])):
			v.family = append(v.family, foldedLetter)
			v.numbers = append(v.numbers, letters)
			i++
		default:
			n := len(letters)
			if how.pin && isLine(letters) {
				n = lineEnd(s[i:], n)
			}
			v.family = append(v.family, s[i:i+n]...)
			i += n
		}
	}
}

// readStage reads a stage with its numbers if the letters at i are a word for one, and
// returns where it ends; i if they are not. The word is no part of the family, unless it
// is a channel. Of the separators around it one
// remains: "-alpine" of -rc1.alpine and of .rc1-alpine.
func (v *version) readStage(s string, i int, letters string) int {
	found := stageOf(letters)
	if found == stable || (len(letters) == 1 && !initial(s, i, found)) {
		return i
	}
	word := i + len(letters)
	end := v.readCount(s, word)
	if found == patched && end == word {
		return i // a variant with a patch, not the number of a patch
	}
	if v.stage.release() {
		v.stage = found
	}
	if found.channel() && end == word {
		v.family = append(v.family, letters...)
		return end
	}
	if n := len(v.family); i > 0 && n > 0 && isSeparator(s[i-1]) {
		if s[i-1] != '.' && end < len(s) && isSeparator(s[end]) {
			return end + 1
		}
		v.family = v.family[:n-1]
	}
	return end
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
