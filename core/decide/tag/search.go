package tag

import (
	"context"
	"strings"
	"time"
)

// search is one run of a Selector over the tags of a repository.
type search struct {
	*Selector
	ctx       context.Context
	current   string
	isVersion bool
	running   version // the current tag
	raw       layout  // of the current tag, untransformed
	elsewhere bool    // the include pattern asks for another family
	months    bool    // the current tag is a year and a month: 22.04, 23.10
	how       reading
	candidate *version
	stands    standing // of the candidate
	newer     ranking
	kept      int // tags that are newer on the current base
	offBase   int // and on another one
	drop      baseDrop
	far       limits
	filtered  int // tags that passed the filters
	prefixed  int // of these, tags with the current prefix
	relatives int // of these, tags of the current family
	deadline  time.Time
}

// layout is what the prefix and number-count rules see: the untransformed tag.
type layout struct {
	prefix string
	count  int
}

func layoutOf(tag string) layout {
	start, end, hash := span(tag)
	l := layout{prefix: tag[:start]}
	if start < end {
		l.count = 1
	}
	if !hash && !isRespin(tag[start:end]) {
		l.count += strings.Count(tag[start:end], ".")
	}
	if !hash && isDashedDate(tag[start:end]) {
		l.count = 3
	}
	return l
}

// standing is how a tag stands to the current one. Of two tags the one that stands higher
// is offered, whatever their versions.
type standing int

const (
	behind  standing = iota // not newer
	rebuilt                 // the same version, built later on another base
	respun                  // the same version, built later on the base of the current tag
	offBase                 // a newer version on another base
	ahead                   // a newer version on the base of the current tag
)

// baseDrop finds out whether the base of a floating tag has been dropped. A tag such as
// 16-alpine3.19 never gets a newer version, and yet moves no more once its base is dropped.
// The more precise tags tell: when 16.6 exists on alpine3.21 but not on alpine3.19, then
// 16-alpine3.21 is the one that goes on.
type baseDrop struct {
	equals      []string // the tags of the current version on later bases
	here, later version  // the newest of the more precise tags on the current base, and on later ones
}

// ranked is a newer tag among others.
type ranked struct {
	*version
	tag    string
	stands standing
}

// ranking has the best of the newer tags.
type ranking struct {
	best  [levels][]ranked // of each level, the best first
	extra []ranked         // known ones for which there was no room
	known []string
}

// limits are how far a search may go.
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

// addEqual remembers a tag that is not newer, if only its base is.
func (b *baseDrop) addEqual(tag string, v, running *version) {
	if compareCore(v, running) == 0 && sameFamily(v, running) && compareLists(v.lead(), running.lead()) == 0 &&
		compareLists(v.release(), running.release()) > 0 {
		b.equals = append(b.equals, tag)
	}
}

// addPrecise looks at a tag with more numbers than the running one.
func (b *baseDrop) addPrecise(v, running *version) {
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
