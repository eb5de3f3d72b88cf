package overview

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
)

// TestTrendNeedsTwoDays, and an update in one of them.
func TestTrendNeedsTwoDays(t *testing.T) {
	for name, days := range map[string][]history.Day{
		"no day": nil, "the first day": webtest.DaysUntil(4), "nothing was ever newer": webtest.DaysUntil(0, 0, 0),
	} {
		if trendOf(language.New().Named(language.English), days) != nil {
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
	for _, p := range trendOf(language.New().Named(language.English), days).Pictures {
		size += len(p.SVG)
	}
	if size > 20<<10 {
		t.Errorf("the pictures are %d bytes", size)
	}
}
