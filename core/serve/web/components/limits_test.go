package components

import (
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/internal/budget"
)

func TestBudgetIsFullUntilItsEnd(t *testing.T) {
	f := budget.Forecast{Use: budget.Use{Host: "docker.io", FullUntil: webtest.Noon.Add(time.Hour)}}
	for after, full := range map[time.Duration]bool{0: true, time.Hour: false} {
		if row := newBudgetRow(f, webtest.Noon.Add(after)); row.Full != full {
			t.Errorf("after %v: %+v", after, row)
		}
	}
}
