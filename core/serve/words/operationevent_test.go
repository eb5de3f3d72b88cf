package words

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// TestPullIsNoUpdateInTheLog: what only pulled an image does not read as an update.
func TestPullIsNoUpdateInTheLog(t *testing.T) {
	o := event.Operation{Kind: "update", From: "web:1.0.0", To: "web:1.1.0", DryRun: true,
		Actor: "rule updates.preload"}
	for typ, want := range map[event.Type]string{
		event.OperationStarted:   "dry run of the update to 1.1.0 began automatically (updates.preload)",
		event.OperationSucceeded: "image pulled: 1.1.0",
	} {
		if got, _ := describeOperation(typ, o); got.String() != want {
			t.Errorf("%s: %q, want %q", typ, got, want)
		}
	}
}

func TestNobodyIsNamedWithoutALogin(t *testing.T) {
	o := event.Operation{Kind: "update", From: "web:1.0.0", To: "web:1.1.0", Actor: event.Anonymous}
	if got, _ := describeOperation(event.OperationStarted, o); got.String() != "update to 1.1.0 began" {
		t.Errorf("%q", got)
	}
}
