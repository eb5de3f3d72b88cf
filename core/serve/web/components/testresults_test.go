package components

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
)

func TestTestResultsExpire(t *testing.T) {
	var all testResults
	if last := all.latest("trigger.smtp.main", webtest.Noon); last.view != nil {
		t.Error("there is a result before the first test")
	}
	all.keep("trigger.smtp.main", testResult{ended: webtest.Noon, image: "a", view: &testView{}})
	if last := all.latest("trigger.smtp.main", webtest.Noon.Add(testResultTime)); last.view == nil || last.image != "a" {
		t.Errorf("expired: %+v", last)
	}
	if last := all.latest("trigger.smtp.other", webtest.Noon); last.view != nil {
		t.Error("the result of another component is shown")
	}
	if last := all.latest("trigger.smtp.main", webtest.Noon.Add(testResultTime+1)); last.view != nil || len(all.last) != 0 {
		t.Errorf("kept %+v", last)
	}
}
