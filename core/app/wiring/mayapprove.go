package wiring

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// MayApprove returns whether approval of the update of a container has an effect: a
// trigger waits for it, or the watcher may then carry it out. allowed reports the latter.
func MayApprove(allowed func(watcher string) bool) func(c *sdk.Container) bool {
	return func(c *sdk.Container) bool {
		has := func(code string) bool {
			return c.Decision != nil &&
				slices.ContainsFunc(c.Decision.Reasons, func(r sdk.Reason) bool { return r.Code == code })
		}
		switch {
		case choice.Approvable(c) != nil, has(policy.ReasonApproved),
			c.Decision != nil && c.Decision.State == sdk.StateAutomatic:
			return false
		case has(policy.ReasonApproval):
			return true
		}
		return allowed(c.Watcher)
	}
}
