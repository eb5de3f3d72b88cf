package candidate

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// Found is what a check found for a container, as it is stored: an update is decided
// again with it whenever a rule, a choice or the time asks for that.
type Found struct {
	// From is the digest of the running image with which a new digest behind
	// its tag was compared; "" if none was.
	From string `json:"from,omitempty"`
	// Tag is the running tag: offered from another one, a version is another update.
	Tag string `json:"tag,omitempty"`
	// SearchID identifies what was looked for. Candidates that are new with the same one have appeared since.
	SearchID string `json:"basis,omitempty"`
	// AgesSince is the time of the first of the checks, up to the last one, in which a rule asked for an age; zero if
	// none did in the last one.
	AgesSince  time.Time   `json:"agesSince,omitzero"`
	Candidates []Candidate `json:"candidates"`
}

// Encode returns the stored form.
func (f Found) Encode() ([]byte, error) { return json.Marshal(f) }

// Equal reports whether two checks found the same, in whatever zone its times are.
func (f Found) Equal(other Found) bool {
	return f.From == other.From && f.Tag == other.Tag && f.SearchID == other.SearchID &&
		f.AgesSince.Equal(other.AgesSince) && slices.EqualFunc(f.Candidates, other.Candidates, Candidate.equal)
}

func (c Candidate) equal(other Candidate) bool {
	sameTimes := c.Created.Equal(other.Created) && c.FirstSeen.Equal(other.FirstSeen) &&
		c.OfferedAt.Equal(other.OfferedAt)
	c.Created, c.FirstSeen, c.OfferedAt = other.Created, other.FirstSeen, other.OfferedAt
	return sameTimes && c == other
}

// Tags returns the tags of the candidates that are other tags than the running one.
func (f Found) Tags() []string {
	var tags []string
	for _, c := range f.Candidates {
		if c.Kind == sdk.KindTag {
			tags = append(tags, c.Tag)
		}
	}
	return tags
}

// Offer notes when a candidate is offered, and reports whether that is for the first time:
// then users are notified of it. An update that was held meanwhile, or gave way to another
// one, is known from before. The candidates of f stay as they are.
func (f Found) Offer(target int, now time.Time) (Found, bool) {
	if !f.Candidates[target].OfferedAt.IsZero() {
		return f, false
	}
	f.Candidates = slices.Clone(f.Candidates)
	f.Candidates[target].OfferedAt = now
	return f, true
}
