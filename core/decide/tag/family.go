package tag

import "bytes"

// related reports whether v may follow the current tag: a version of its family, or one
// without the revisions of the current tag (10.8.13-1), which not every version has.
func (d *search) related(v *version) bool {
	if d.how.bare {
		return sameFamily(v, &d.running)
	}
	for family, ok := d.running.family, true; ok; family, ok = withoutRevision(family) {
		if bytes.Equal(family, v.family) {
			return true
		}
	}
	return false
}

func sameFamily(a, b *version) bool { return bytes.Equal(a.family, b.family) }

// withoutRevision returns what a family is without the revision it begins with, the count
// of how often a version was built or mended: 1.0.0-1, 1.0.0-3_slim, 1.0.0-r2-alpine, 1.0.0c.
func withoutRevision(family []byte) (rest []byte, ok bool) {
	for _, revision := range [...]string{"-#", "-r#", "-p#", "?"} {
		if rest, ok := bytes.CutPrefix(family, []byte(revision)); ok && (len(rest) == 0 || rest[0] == '-' || rest[0] == '_') {
			return rest, true
		}
	}
	return nil, false
}
