package tag

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Along returns a Selector that leaves out no version of a path.
func (s *Selector) Along(p Path) *Selector {
	along := *s
	along.path = &p
	return &along
}

// forget drops what a run has found.
func (d *search) forget() {
	d.kept, d.offBase, d.filtered, d.prefixed, d.relatives = 0, 0, 0, 0, 0
	d.newer = ranking{known: d.newer.known}
	if d.dropped != nil {
		*d.dropped = droppedBase{}
	}
	d.far.beyond, d.far.tag, d.far.count = nil, "", 0
}

// admits reports whether a newer version is within the limits. One that is not is remembered if it is the newest.
func (d *search) admits(v *version) bool {
	if d.far.isSeeking {
		d.seek(v)
	}
	return d.limitOf(v) == nil
}

// seek remembers the nearest release line.
func (d *search) seek(v *version) {
	nearest := &d.far.next
	if d.stands == offBase || d.stands == rebuilt {
		nearest = &d.far.elsewhere
	}
	line := make([]string, d.path.Line)
	for i := range line {
		line[i] = v.part(i)
	}
	if d.running.compareTo(line) < 0 && (*nearest == nil || compareLists(line, *nearest) < 0) {
		*nearest = line
	}
}

// limitOf returns the limit that a version exceeds; nil for none.
func (d *search) limitOf(v *version) []string {
	for _, limit := range [][]string{d.far.stop, d.far.line} {
		if limit != nil && v.compareTo(limit) > 0 {
			return limit
		}
	}
	return nil
}

// leaveOut counts a tag beyond the limits.
func (d *search) leaveOut(tag string, v *version) {
	d.far.count++
	switch {
	case d.far.beyond == nil:
		d.far.beyond = new(version)
	case compareMain(v, d.far.beyond) <= 0:
		return
	}
	d.far.beyond.keep(v)
	d.far.tag = strings.Clone(tag)
}

// comesFirst says what a tag that is left out has to wait for.
func (d *search) comesFirst(v *version) phrase.Phrase {
	limit := d.limitOf(v)
	numbers := make([]string, len(limit))
	for i := range limit {
		numbers[i] = decimal(limit[i])
	}
	return phrase.New("%s must not be skipped, so update to it first (%s)", strings.Join(numbers, "."), d.path.Source)
}

// compareTo compares as many of the numbers as there are others.
func (v *version) compareTo(numbers []string) int {
	for i, number := range numbers {
		if c := compareNumber(v.part(i), number); c != 0 {
			return c
		}
	}
	return 0
}

// numbersOf returns the numbers of a stop as versions have them.
func numbersOf(stop string) []string {
	numbers := strings.Split(stop, ".")
	for i := range numbers {
		numbers[i] = strings.TrimLeft(numbers[i], "0")
	}
	return numbers
}
