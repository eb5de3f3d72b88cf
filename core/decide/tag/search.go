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
	judged    *version
	stands    standing // of judged
	newer     ranking
	kept      int          // tags that are newer on the current base
	offBase   int          // and on another one
	dropped   *droppedBase // nil where the current tag names no base
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
	notNewer standing = iota
	rebuilt           // the same version, built later on another base
	respun            // the same version, built later on the base of the current tag
	offBase           // a newer version on another base
	ahead             // a newer version on the base of the current tag
)

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
	// line and stop are the numbers that no tag may exceed; nil for none.
	line, stop []string

	beyond *version // the newest tag that is left out; nil for none
	tag    string
	count  int
}

// read reads a transformed text as this search does.
func (d *search) read(v *version, text string) bool { return v.read(text, d.how) }

// The levels that share the room for newer tags: the first number that differs from the current tag's.
const (
	majorLevel = iota
	minorLevel
	patchLevel // and whatever is less
	levels
)
