// Package candidate lists what a container may be updated to: it turns the answer of registries about its image into
// candidates, with what is known of them from earlier checks. It does no I/O.
package candidate

import (
	"time"

	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/sdk"
)

// Answer is what registries said about the image of one container.
type Answer struct {
	Selection tag.Selection
	// Tags is how many tags the repository has, when they were fetched.
	Tags int
	// Why has the verdict on each tag, for a container that is to be explained.
	Why *tag.Explanation
	// Digest is what is known of the digest behind the running tag; nil when it was not fetched.
	Digest *Digest
	// Uncompared says why nothing could be compared where only the registry tells.
	Uncompared string
	// Skipped are newer versions that are implausible.
	Skipped []sdk.Skipped
	// Created is when the images of candidates were made, by tag, where that was fetched.
	Created map[string]sdk.Time
	// Aged are which images are behind the tags of candidates, by tag, where that was looked at.
	Aged map[string]AgedImage
	Err  error
}

// Date keeps when the image of a candidate was made.
func (a *Answer) Date(tag string, created sdk.Time) {
	if a.Created == nil {
		a.Created = map[string]sdk.Time{}
	}
	a.Created[tag] = created
}

// KeepAged keeps which image is behind the tag of a candidate.
func (a *Answer) KeepAged(tag string, i AgedImage) {
	if a.Aged == nil {
		a.Aged = map[string]AgedImage{}
	}
	a.Aged[tag] = i
}

// Digest compares the running image with what is behind its tag.
type Digest struct {
	Remote string
	// Inside are the digests of the manifest that Remote has for the platform
	// and of its configuration, where they were fetched.
	Inside []string
	// Same is true when the running image is what the digest means for its platform.
	Same    bool
	Created sdk.Time
	// Version is what the image behind Remote says of its version; "" when it is not known.
	Version string
}

// AgedImage is the image behind a tag whose age counts.
type AgedImage struct {
	Digest string
	// Since is when it was found there, if its age begins with that; Moved is whether another one was there before.
	Since time.Time
	Moved bool
}

// apply returns a candidate with the image that is behind its tag. Its age begins anew if that is another one than the
// one whose age counted: whoever publishes an image can move its tag once the age of the tag has passed.
func (i AgedImage) apply(c Candidate) Candidate {
	c.AgedDigest = i.Digest
	if !i.Since.IsZero() {
		c.FirstSeen, c.Observed, c.Moved = i.Since, true, i.Moved
	}
	return c
}
