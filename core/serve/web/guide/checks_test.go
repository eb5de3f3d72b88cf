package guide

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
)

// TestRunningChecksAreOfWholeWatchers: neither those of one container count, nor those that a killed process began.
func TestRunningChecksAreOfWholeWatchers(t *testing.T) {
	events := webtest.CheckEvents()
	running := RunningChecks(events, webtest.Noon)
	for name, want := range map[string]bool{
		"single": false, "busy": true, "idle": false, "killed": false, "unknown": false,
	} {
		if running[name] != want {
			t.Errorf("%s is running: %t", name, running[name])
		}
	}
	if last := LastChecks(events); last["busy"].Type != event.CheckFailed || last["killed"].ID != 0 || len(last) != 3 {
		t.Errorf("the last ends are %v", last)
	}
}
