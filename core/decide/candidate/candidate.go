package candidate

import "time"

// Candidate is a version that is newer than what runs.
type Candidate struct {
	// Tag is the tag to run; with Kind sdk.KindDigest it is the running one.
	Tag    string `json:"tag"`
	Digest string `json:"digest,omitempty"` // with sdk.KindDigest: the new digest behind Tag
	// AgedDigest is the digest behind Tag whose age counts, with sdk.KindTag; "" as long as no rule asks for an age.
	AgedDigest string `json:"pinned,omitempty"`
	Kind       string `json:"kind"` // sdk.KindTag or sdk.KindDigest
	// the step: sdk.DiffMajor, sdk.DiffMinor, …; "" with sdk.KindDigest unless both versions are known
	Diff string `json:"diff,omitempty"`
	// Version is that of the image, with sdk.KindDigest; "" when it is not known.
	Version string `json:"version,omitempty"`
	// Created is when the image was made, as its registry says; zero when not known.
	Created time.Time `json:"created,omitzero"`
	// FirstSeen is when a check found it first: the tag, and once that was moved what is behind it.
	FirstSeen time.Time `json:"firstSeen,omitzero"`
	// Observed is whether its publication was: an earlier check had looked for such versions and not found it. Its age
	// counts from FirstSeen then, as Created is what whoever published it says.
	Observed bool `json:"appeared,omitempty"`
	// Moved is whether Tag led to another image before FirstSeen. That was Observed then.
	Moved bool `json:"moved,omitempty"`
	// OfferedAt is when it was offered first; zero if it never was. See Found.Offer.
	OfferedAt time.Time `json:"offeredAt,omitzero"`
}

// Began returns from when the age of a candidate counts, and whether that is when it was first seen
// rather than when its image was made; zero when neither is known.
func (c Candidate) Began() (at time.Time, seen bool) {
	if c.Observed || c.Created.IsZero() {
		return c.FirstSeen, true
	}
	return c.Created, false
}
