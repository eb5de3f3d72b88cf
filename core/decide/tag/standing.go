package tag

// standing compares v with the running version.
func (d *search) standing(v *version) standing {
	running := &d.running
	core := compareCore(v, running)
	switch sameBase := compareLists(v.release(), running.release()) == 0; {
	case core > 0 && sameBase:
		return ahead
	case core > 0:
		return offBase
	case core < 0 || !sameFamily(v, running):
		return notNewer
	case sameBase && compareLists(v.numbers, running.numbers) > 0:
		return respun
	case !sameBase && compareLists(v.lead(), running.lead()) > 0:
		return rebuilt
	}
	return notNewer
}

// nearer compares two releases of a base by how near they are to that of the current tag: the next
// one before later ones, and these before earlier ones.
func (d *search) nearer(a, b *version) int {
	current := d.running.release()
	aboveA, aboveB := compareLists(a.release(), current), compareLists(b.release(), current)
	switch c := compareLists(a.release(), b.release()); {
	case aboveA >= 0 && aboveB >= 0:
		return -c
	default:
		return c
	}
}
