package tag

// afterDrop returns the tag of the current version on the nearest base that has the newest of
// the more precise tags; "" when none of these shows that the current base was dropped.
func (d *search) afterDrop() (string, error) {
	b := &d.drop
	if len(b.here.main) == 0 || compareMain(&b.later, &b.here) <= 0 {
		return "", nil
	}
	best, slowest := "", d.slowest()
	for i, tag := range b.equals {
		if err := d.spent(slowest, i); err != nil {
			return "", err
		}
		text, _, err := d.transform.apply(tag)
		if err != nil {
			return "", err
		}
		if !d.read(d.candidate, text) || compareLists(d.candidate.release(), b.later.release()) != 0 {
			continue
		}
		if best == "" || len(tag) < len(best) || (len(tag) == len(best) && tag < best) {
			best = tag
		}
	}
	return best, nil
}
