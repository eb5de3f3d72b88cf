package web

import (
	"context"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
)

func (f fakeHistory) UpdateHistory(context.Context) ([]history.Day, error) { return f.days, f.err }

// daysUntil returns days until noon with so many major updates each.
func daysUntil(majors ...int) []history.Day {
	var days []history.Day
	for i, n := range majors {
		days = append(days, history.Day{
			Date: webtest.Noon.AddDate(0, 0, i+1-len(majors)).Format("2006-01-02"), Updates: n, Major: n, Age: history.Age{Week: n},
		})
	}
	return days
}

func TestOverviewShowsHowFarBehind(t *testing.T) {
	u := withFakes(t, func(f *fakeService) { f.fakeHistory = fakeHistory{days: daysUntil(1, 1, 3, 2)} })
	_, body := get(t, u, "/")
	first := webtest.Noon.AddDate(0, 0, -3)
	webtest.Contains(t, body,
		"2 updates now, those held included; 1 on "+first.Format("2 Jan")+"; most were 3, on "+
			webtest.Noon.AddDate(0, 0, -1).Format("2 Jan")+".",
		`<title id="behind-size-title">Updates by day, By size</title>`, `Now major: 2.</desc>`,
		`Now less than 7 days: 2.</desc>`, `viewBox="0 0 14 1000"`,
		"<span>"+webtest.Noon.AddDate(0, 0, 1-fewDays).Format("2 Jan")+"</span><span>today</span>")
	webtest.Contains(t, body, "<td>2</td><td>major: 2</td><td>less than 7 days: 2</td>")
	if rows := strings.Count(body, `<th scope="row">`); rows != 3 {
		t.Errorf("the table has %d rows, want those of the 3 days that differ", rows)
	}
	for name, days := range map[string][]history.Day{
		"no day": nil, "the first day": daysUntil(4), "nothing was ever newer": daysUntil(0, 0, 0),
	} {
		if behindOf(days) != nil {
			t.Errorf("%s: there is a picture", name)
		}
	}
}

// TestPicturesAreSmall draws the most that there can be: each day another number.
func TestPicturesAreSmall(t *testing.T) {
	var days []history.Day
	for i := range history.Days {
		days = append(days, history.Day{
			Date: webtest.Noon.AddDate(0, 0, i+1-history.Days).Format("2006-01-02"), Updates: 6*i + 21, Major: i + 1,
			Minor: i + 2, Patch: i + 3, Prerelease: i + 4, Digest: i + 5, Other: i + 6,
			Age: history.Age{Week: 3 * i, Month: 2 * i, Older: i + 21},
		})
	}
	size := 0
	for _, p := range behindOf(days).Pictures {
		size += len(p.SVG)
	}
	if size > 20<<10 {
		t.Errorf("the pictures are %d bytes", size)
	}
}
