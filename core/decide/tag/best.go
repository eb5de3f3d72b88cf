package tag

import "bytes"

// better reports whether x is better than y. It is a total
// order, so that the order of the tags does not matter: what stands higher, then the newer
// version, then what is most like the current tag, then the shorter and the lower text.
func (d *search) better(x, y ranked) bool {
	a, b := x.version, y.version
	if x.stands != y.stands {
		return x.stands > y.stands
	}
	if c := compareCore(a, b); c != 0 {
		return c > 0
	}
	if same := sameFamily(a, &d.running); same != sameFamily(b, &d.running) {
		return same
	}
	if c := len(a.family) - len(b.family); c != 0 {
		return c < 0
	}
	if c := bytes.Compare(a.family, b.family); c != 0 {
		return c < 0
	}
	if c := compareLists(a.lead(), b.lead()); c != 0 {
		return c > 0
	}
	if c := d.nearer(a, b); c != 0 {
		return c > 0
	}
	if c := compareLists(a.numbers, b.numbers); c != 0 {
		return c > 0
	}
	if same := a.prefix == d.running.prefix; same != (b.prefix == d.running.prefix) {
		return same
	}
	if d.transform != nil {
		// Tags that a transform makes equal: 4.40.9 and 4.40.10 by "^(\d+\.\d+)".
		if c := compareUntransformed(x.tag, y.tag); c != 0 {
			return c > 0
		}
	}
	if len(x.tag) != len(y.tag) {
		return len(x.tag) < len(y.tag)
	}
	return x.tag < y.tag
}
