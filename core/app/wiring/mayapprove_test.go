package wiring

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestMayApprove(t *testing.T) {
	decided := func(state string, codes ...string) *sdk.Decision {
		d := &sdk.Decision{State: state}
		for _, code := range codes {
			d.Reasons = append(d.Reasons, sdk.Reason{Code: code})
		}
		return d
	}
	may := MayApprove(func(watcher string) bool { return watcher == "updates" })
	for title, c := range map[string]struct {
		container sdk.Container
		want      bool
	}{
		"the watcher may update":   {sdk.Container{Watcher: "updates"}, true},
		"nothing can carry it out": {sdk.Container{Watcher: "reads", Decision: decided(sdk.StateOffered)}, false},
		"a trigger waits for it": {sdk.Container{
			Watcher: "reads", Decision: decided(sdk.StateOffered, policy.ReasonApproval),
		}, true},
		"its base is what is newer": {sdk.Container{Watcher: "updates", Base: &sdk.Image{}}, false},
		"it is approved already": {sdk.Container{
			Watcher: "updates", Decision: decided(sdk.StateHeld, policy.ReasonWindow, policy.ReasonApproved),
		}, false},
		"it is carried out without approval": {sdk.Container{
			Watcher: "updates", Decision: decided(sdk.StateAutomatic, policy.ReasonAutomatic),
		}, false},
		"it is held, and approval changes it": {sdk.Container{
			Watcher: "updates", Decision: decided(sdk.StateHeld, policy.ReasonMinAge),
		}, true},
	} {
		if got := may(&c.container); got != c.want {
			t.Errorf("%s: %t", title, got)
		}
	}
}
