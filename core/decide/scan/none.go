package scan

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/sdk"
)

// ErrNoScanner: no program is configured that scans images.
var ErrNoScanner = errors.New("no scanner is configured: set scan.command, for example to trivy")

// None are the Scans of a Dogwatch without a scanner: nothing is known of any image, and no update waits for that.
// Request and Status return ErrNoScanner.
type None struct{}

func (None) Enabled() bool                                          { return false }
func (None) Request(sdk.Container, string) error                    { return ErrNoScanner }
func (None) Status(context.Context, *sdk.Container) (Status, error) { return Status{}, ErrNoScanner }
func (None) Counts() Counts                                         { return Counts{} }
func (None) Compared(*sdk.Container, candidate.Candidate) (vulnerability.Summary, bool) {
	return vulnerability.Summary{}, false
}
func (None) Summary(*sdk.Container, string) (vulnerability.Summary, bool) {
	return vulnerability.Summary{}, false
}
func (None) Verdict(*sdk.Container) Verdict { return Verdict{Ready: true} }
