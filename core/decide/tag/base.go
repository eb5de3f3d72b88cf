package tag

import (
	"slices"
	"strings"
)

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
