package tag

import "strconv"

// A number is out of all proportion when it is at least leapFactor times the next lower one that
// is published, leapWidth or more above it, and hardly anything is published up there: after 0.6
// comes a lone 5.33.2, after 1.3.2 a lone 1.8.1259. Some projects do count on like that (0.14,
// 15.0), so it takes more than the number to tell.
const (
	leapFactor = 2
	leapWidth  = 5
	leapMost   = 2 // versions at or above the number
)

// leaps returns the newer tags whose number is out of all proportion. Only the first number
// that differs from the current tag's counts.
func (d *search) leaps(list []ranked) (tags []string) {
	type step struct {
		index  int // which number differs first; -1 when none does
		number int64
	}
	steps := make([]step, len(list))
	for i, r := range list {
		if steps[i].index = d.firstDifference(r.version); steps[i].index >= 0 {
			steps[i].number = value(r.part(steps[i].index))
		}
	}
	for i, s := range steps {
		if s.index < 0 {
			continue
		}
		below, above := value(d.running.part(s.index)), 0
		for _, other := range steps {
			switch {
			case other.index != s.index:
			case other.number >= s.number:
				above++
			default:
				below = max(below, other.number)
			}
		}
		if above <= leapMost && s.number >= below+leapWidth && s.number >= below*leapFactor {
			tags = append(tags, list[i].tag)
		}
	}
	return tags
}

// firstDifference returns the index of the first number that differs from the current tag's; -1
// when none does.
func (d *search) firstDifference(v *version) int {
	for i := range max(len(v.main), len(d.running.main)) {
		if v.part(i) != d.running.part(i) {
			return i
		}
	}
	return -1
}

// value returns a number of a version, which maxNumber bounds.
func value(number string) int64 {
	n, _ := strconv.ParseInt(decimal(number), 10, 64)
	return n
}
