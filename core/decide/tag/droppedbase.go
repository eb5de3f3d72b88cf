package tag

// droppedBase finds out whether the base of a floating tag has been dropped. A tag such as
// 16-alpine3.19 never gets a newer version, and yet moves no more once its base is dropped.
// The more precise tags tell: when 16.6 exists on alpine3.21 but not on alpine3.19, then
// 16-alpine3.21 is the one that goes on.
type droppedBase struct {
	equals      []string // the tags of the current version on later bases
	here, later version  // the newest of the more precise tags on the current base, and on later ones
}

// addEqual remembers a tag that is not newer, if only its base is.
func (b *droppedBase) addEqual(tag string, v, running *version) {
	if compareCore(v, running) == 0 && sameFamily(v, running) && compareLists(v.lead(), running.lead()) == 0 &&
		compareLists(v.release(), running.release()) > 0 {
		b.equals = append(b.equals, tag)
	}
}

// addPrecise looks at a tag with more numbers than the running one.
func (b *droppedBase) addPrecise(v, running *version) {
	n := len(running.main)
	if len(v.main) <= n || compareLists(v.main[:n], running.main) != 0 || v.stage != running.stage ||
		!sameFamily(v, running) {
		return
	}
	switch on := compareLists(v.release(), running.release()); {
	case on == 0 && compareMain(v, &b.here) > 0:
		b.here.keep(v)
	case on > 0:
		if c := compareMain(v, &b.later); c > 0 || (c == 0 && compareLists(v.release(), b.later.release()) < 0) {
			b.later.keep(v)
		}
	}
}

// keep copies what a droppedBase needs of a version.
func (v *version) keep(from *version) {
	v.main = append(v.main[:0], from.main...)
	v.numbers = append(v.numbers[:0], from.numbers...)
	v.base = from.base
}
