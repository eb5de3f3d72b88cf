package tag

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// MaxPerLevel is how many newer tags a Selection has of each level at most, besides known ones.
const MaxPerLevel = 30

// level returns the level of v.
func (d *search) level(v *version) int {
	switch {
	case v.part(0) != d.running.part(0):
		return majorLevel
	case v.part(1) != d.running.part(1):
		return minorLevel
	}
	return patchLevel
}

// rank puts the tag just judged in its place. Its version is kept, so that the
// next tag is read into another one.
func (d *search) rank(tag string) {
	r := ranked{version: d.judged, tag: tag, stands: d.stands}
	list := &d.newer.best[d.level(r.version)]
	spare := (*version)(nil)
	if full := len(*list) == MaxPerLevel; full {
		last := (*list)[MaxPerLevel-1]
		if !d.better(r, last) {
			if d.newer.isKnown(tag) {
				d.newer.extra = append(d.newer.extra, r)
				d.judged = new(version)
			}
			return
		}
		if *list = (*list)[:MaxPerLevel-1]; d.newer.isKnown(last.tag) {
			d.newer.extra = append(d.newer.extra, last)
		} else {
			spare = last.version
		}
	}
	if spare == nil {
		spare = new(version)
	}
	i, _ := slices.BinarySearchFunc(*list, r, d.compare)
	*list = slices.Insert(*list, i, r)
	d.judged = spare
}

// compare orders ranked tags, the best first. No two are equal.
func (d *search) compare(a, b ranked) int {
	switch {
	case a.tag == b.tag:
		return 0
	case d.better(a, b):
		return -1
	}
	return 1
}

func (r *ranking) isKnown(tag string) bool { return slices.Contains(r.known, tag) }

// rankedTags returns the tags that may be offered, the best first, and how that stands
// to the current tag. Where the current base has newer versions, those on other bases
// are none. Of several tags of one version the best counts.
func (d *search) rankedTags() (list []ranked, best standing) {
	all := slices.Concat(d.newer.best[majorLevel], d.newer.best[minorLevel], d.newer.best[patchLevel], d.newer.extra)
	if len(all) == 0 {
		return nil, notNewer
	}
	slices.SortFunc(all, d.compare)
	best = all[0].stands
	var before ranked
	for _, r := range all {
		if r.stands == offBase && best == ahead || r.stands == rebuilt && best != rebuilt || r.tag == before.tag ||
			before.version != nil && sameVersion(r.version, before.version) {
			continue
		}
		before = r
		list = append(list, r)
	}
	return list, best
}

// stepped returns tags with their steps from the current tag.
func (d *search) stepped(list []ranked) []Newer {
	diff := d.differ()
	newer := make([]Newer, len(list))
	for i, r := range list {
		newer[i] = Newer{Tag: r.tag, Diff: diff(r.tag)}
	}
	return newer
}

// Dropped says why a newer tag is not offered after all, for what its tag does not tell.
type Dropped struct {
	Reason Reason        // ReasonArtifact or ReasonImplausible
	Detail phrase.Phrase // one sentence for the user
}

// Without returns what remains of a selection when some of its tags, are not
// offered after all. current is the tag that runs.
func (s Selection) Without(current string, dropped map[string]Dropped) Selection {
	before := len(s.Tags)
	s.Tags = slices.DeleteFunc(slices.Clone(s.Tags), func(c Newer) bool {
		_, isDropped := dropped[c.Tag]
		return isDropped
	})
	if len(s.Tags) == 0 {
		return Selection{Tag: current, Warnings: s.Warnings}
	}
	s.Kept -= before - len(s.Tags)
	s.Tag = s.Tags[0].Tag
	return s
}

// differ returns Diff from the current tag, for many tags.
func (d *search) differ() func(tag string) string {
	var from, to version
	if !d.Selector.read(&from, d.Transform(d.current)) {
		return func(string) string { return "unknown" }
	}
	return func(tag string) string {
		if !d.Selector.read(&to, d.Transform(tag)) {
			return "unknown"
		}
		return difference(&from, &to)
	}
}

// sameVersion reports whether two tags are of one version: it was built
// in several flavours, and not again.
func sameVersion(a, b *version) bool {
	if compareCore(a, b) != 0 {
		return false
	}
	return !sameFamily(a, b) || compareLists(a.release(), b.release()) != 0 || compareLists(a.numbers, b.numbers) == 0
}
