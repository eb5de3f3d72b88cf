package policy

import "encoding/json"

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
