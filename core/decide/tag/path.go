package tag

import (
	"fmt"
	"strings"
)

// Path says which versions must not be left out on the way to a newer one.
type Path struct {
	// Line is how many numbers name a release line of which none may be left out; 0 if any may be.
	Line int
	// Stops are versions that must not be passed without a stay, in order: "16.3". On the way to one, and once the
	// last is passed, others may be left out.
	Stops []string
	// Source says who says so, for explanations.
	Source string
}

// Along returns a Selector that leaves out no version of a path.
func (s *Selector) Along(p Path) *Selector {
	along := *s
	along.path = &p
	return &along
}

// limits are how far a decision may go.
type limits struct {
	// isSeeking is true while the next release line is looked for.
	isSeeking bool
	// next is the nearest release line above the current one, on its base and on another.
	next, elsewhere []string
	// line and stop are the numbers that no candidate may exceed; nil for none.
	line, stop []string

	beyond version // the newest tag that is left out
	tag    string
	count  int
}

// limit finds out how far a path lets a decision go.
func (d *decision) limit(tags []string) error {
	if d.path == nil || !d.isVersion {
		return nil
	}
	for _, stop := range d.path.Stops {
		numbers := numbersOf(stop)
		if d.running.compareTo(numbers) < 0 {
			d.far.stop = numbers
			break
		}
	}
	if d.path.Line == 0 {
		return nil
	}
	d.far.isSeeking = true
	if err := d.run(tags, nil); err != nil {
		return err
	}
	d.forget()
	d.far.isSeeking = false
	if d.far.line = d.far.next; d.far.line == nil {
		d.far.line = d.far.elsewhere
	}
	return nil
}

// forget drops what a run has found.
func (d *decision) forget() {
	d.kept, d.offBase, d.filtered, d.prefixed, d.relatives = 0, 0, 0, 0, 0
	d.newer, d.drop = ranking{known: d.newer.known}, baseDrop{}
	d.far.tag, d.far.count = "", 0
}

// admits reports whether a newer version is within the limits. One that is not is remembered if it is the newest.
func (d *decision) admits(v *version) bool {
	if d.far.isSeeking {
		d.seek(v)
	}
	return d.limitOf(v) == nil
}

// seek remembers the nearest release line.
func (d *decision) seek(v *version) {
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
func (d *decision) limitOf(v *version) []string {
	for _, limit := range [][]string{d.far.stop, d.far.line} {
		if limit != nil && v.compareTo(limit) > 0 {
			return limit
		}
	}
	return nil
}

// leaveOut counts a tag beyond the limits.
func (d *decision) leaveOut(tag string, v *version) {
	if d.far.count++; d.far.count == 1 || compareMain(v, &d.far.beyond) > 0 {
		d.far.beyond.keep(v)
		d.far.tag = strings.Clone(tag)
	}
}

// comesFirst says what a tag that is left out has to wait for.
func (d *decision) comesFirst(v *version) string {
	limit := d.limitOf(v)
	if limit == nil {
		return ""
	}
	numbers := make([]string, len(limit))
	for i := range limit {
		numbers[i] = decimal(limit[i])
	}
	return fmt.Sprintf("%s comes first, which must not be left out (%s)", strings.Join(numbers, "."), d.path.Source)
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
