package tag

import (
	"strings"
)

// Bytes that stand for something in a family; none of them can be part of a tag.
const (
	foldedNumber = '#'
	foldedLetter = '?'
	foldedHash   = '*'
)

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
			if how.runtimes && isLine(letters) {
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

// join adds the last number to the version that ends before it, or begins another.
// It stands at start in the suffix.
func (v *version) join(start, end int) {
	last := len(v.suffixVersions) - 1
	if last >= 0 && v.suffixVersions[last].end == start-1 && v.rest[start-1] == '.' {
		v.suffixVersions[last].end = end
		v.suffixVersions[last].to++
		return
	}
	v.suffixVersions = append(v.suffixVersions, numberRun{start, end, len(v.numbers) - 1, len(v.numbers)})
}
