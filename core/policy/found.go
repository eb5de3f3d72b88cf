package policy

import (
	"encoding/json"

	"github.com/dogwatch/dogwatch/sdk"
)

// Found is what a check found for a container, as it is stored: an update is decided
// again with it whenever a rule, a choice or the time asks for that.
type Found struct {
	// From is the digest of the running image with which a new digest behind
	// its tag was compared; "" if none was.
	From       string      `json:"from,omitempty"`
	Candidates []Candidate `json:"candidates"`
}

// Encode returns the stored form.
func (f Found) Encode() ([]byte, error) { return json.Marshal(f) }

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
