package preview

import (
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestReasonInGerman(t *testing.T) {
	german := language.New().Named("de")
	until := sdk.TimeOf(time.Date(2026, 11, 30, 9, 0, 0, 0, time.Local))
	for want, r := range map[string]sdk.Reason{
		"es ist jünger, als die Regeln verlangen (minage), bis Mo 30.11.2026 09:00": {
			Code: policy.ReasonMinAge, Text: "it is 1 day old, younger than 7", Source: "minage", Until: until,
		},
		"es wurde von ana bis Mo 30.11.2026 09:00 zurückgestellt": {
			Code: policy.ReasonSnoozed, Text: "it was snoozed by ana", Source: "ana", Until: until,
		},
		"want a duration (label x)": {Code: policy.ReasonInvalidRule, Text: "want a duration", Source: "label x"},
		"zurückgehalten":            {Code: "from.elsewhere"},
	} {
		if got := german.Say(Sentence(r)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
