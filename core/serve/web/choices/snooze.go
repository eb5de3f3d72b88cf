package choices

import (
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk"
)

// snoozePresets are for how long updates are snoozed.
func snoozePresets() []page.SelectOption {
	return []page.SelectOption{
		{Value: "1", Word: phrase.New("until tomorrow")},
		{Value: "7", Word: phrase.New("for a week"), Chosen: true},
		{Value: "30", Word: phrase.New("for a month")},
		{Value: untilNext, Word: phrase.New("until the next version")},
	}
}

// untilNext is the value of a snooze that lasts until the next version.
const untilNext = "next"

// snoozeUntilDay is the action of forms that snooze until a day; choice.Snooze is that of forms that say how long.
const snoozeUntilDay = "snooze-day"

// snoozedUntil returns when a snooze until a day ends.
func (h *Handler) snoozedUntil(date string) (time.Time, error) {
	now := h.Now()
	day, err := time.ParseInLocation(time.DateOnly, date, now.Location())
	switch {
	case err != nil:
		return day, sdk.Invalid("date", "want a day such as %s", now.AddDate(0, 0, 7).Format(time.DateOnly))
	case !day.After(now):
		return day, sdk.Invalid("date", "a snooze lasts until a day to come, the earliest is %s",
			now.AddDate(0, 0, 1).Format(time.DateOnly))
	}
	return day, nil
}

// snoozedFor returns when a snooze for some days ends; zero for the next version.
func (h *Handler) snoozedFor(days string) (time.Time, error) {
	if days == untilNext {
		return time.Time{}, nil
	}
	n, err := strconv.ParseUint(days, 10, 10)
	if err != nil || n == 0 {
		return time.Time{}, sdk.Invalid("until", "say until when to snooze")
	}
	return h.Now().AddDate(0, 0, int(n)), nil
}
