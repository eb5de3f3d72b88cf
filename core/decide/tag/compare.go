package tag

// compareMain compares the numbers, a missing one being zero.
func compareMain(a, b *version) int {
	for i := range max(len(a.main), len(b.main)) {
		if c := compareNumber(a.part(i), b.part(i)); c != 0 {
			return c
		}
	}
	return 0
}

func (v *version) part(i int) string {
	if i < len(v.main) {
		return v.main[i]
	}
	return ""
}

// compareCore compares numbers and stage, but not the suffix.
func compareCore(a, b *version) int {
	if c := compareMain(a, b); c != 0 {
		return c
	}
	if a.stage != b.stage {
		return int(a.stage) - int(b.stage)
	}
	return compareLists(a.count, b.count)
}

// compareLists compares number by number; a list is above its own beginning.
func compareLists(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if c := compareNumber(a[i], b[i]); c != 0 {
			return c
		}
	}
	return len(a) - len(b)
}

// compareVersions is compareCore, then the numbers of the suffix if both are of one
// family. It is 0 when neither is newer, which for two families does not mean equal.
func compareVersions(a, b *version) int {
	if c := compareCore(a, b); c != 0 || !sameFamily(a, b) {
		return c
	}
	return compareLists(a.numbers, b.numbers)
}

// compareUntransformed compares two tags as they are; one that is no version is lower.
// It allocates, but only for ties.
func compareUntransformed(a, b string) int {
	var va, vb version
	switch okA, okB := va.read(a, reading{}), vb.read(b, reading{}); {
	case okA && okB:
		if c := compareCore(&va, &vb); c != 0 {
			return c
		}
		return compareLists(va.numbers, vb.numbers)
	case okA:
		return 1
	case okB:
		return -1
	}
	return 0
}
