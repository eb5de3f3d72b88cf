package web

import (
	"context"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
)

func (f fakeHistory) UpdateHistory(context.Context) ([]history.Day, error) { return f.days, f.err }

func TestOverviewShowsHowFarBehind(t *testing.T) {
	u := withFakes(t, func(f *fakeService) { f.fakeHistory = fakeHistory{days: webtest.DaysUntil(1, 1, 3, 2)} })
	_, body := get(t, u, "/")
	first := webtest.Noon.AddDate(0, 0, -3)
	webtest.Contains(t, body,
		"2 updates now, held ones included; 1 on "+first.Format("2 Jan")+", and at most 3, on "+
			webtest.Noon.AddDate(0, 0, -1).Format("2 Jan")+".",
		`<title id="behind-size-title">Updates by day, By kind</title>`, `Now major: 2.</desc>`,
		`Now less than 7 days: 2.</desc>`, `viewBox="0 0 14 1000"`,
		"<span>"+webtest.Noon.AddDate(0, 0, 1-14).Format("2 Jan")+"</span><span>today</span>")
	webtest.Contains(t, body, "<td>2</td><td>major: 2</td><td>less than 7 days: 2</td>")
	if rows := strings.Count(body, `<th scope="row">`); rows != 3 {
		t.Errorf("the table has %d rows, want those of the 3 days that differ", rows)
	}
}
