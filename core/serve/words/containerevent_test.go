package words

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestDecisionSaysWhatInstalls(t *testing.T) {
	rule := []sdk.Reason{{Code: policy.ReasonAutomatic, Source: "label dogwatch.update"}}
	for want, c := range map[string]*sdk.Container{
		"3.2.0 will be installed automatically (label dogwatch.update)":      {Result: &sdk.Result{Tag: "3.2.0"}},
		"the update will be installed automatically (label dogwatch.update)": {UpdateKind: sdk.UpdateKind{Kind: sdk.KindDigest}},
	} {
		c.Decision = &sdk.Decision{State: sdk.StateAutomatic, Reasons: rule}
		if got := Decision(c).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
