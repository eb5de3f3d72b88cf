package window

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

const momentsExample = `"daily 08:00", "Mon 08:00 Europe/Paris"`

// Moments are times of a clock on the wall at which something happens again and again.
type Moments struct{ minutes Window }

// timeSpan is what a moment has not.
var timeSpan = lazyregexp.New(`\d(am|pm)?-\d| for `)

// ParseMoments reads when something happens: "daily 08:00", "weekdays 7am", "first Sunday
// 09:00; Wed 18:00 Europe/Paris", or a cron expression. Days and zones are those of Parse.
func ParseMoments(text string, zone *time.Location) (Moments, error) {
	c, err := parse(text, zone, func(text string) (part, error) {
		if timeSpan().MatchString(strings.ToLower(text)) && !cronStart().MatchString(strings.Fields(text)[0]) {
			return part{}, errors.New("it says from when until when, and a single time is wanted")
		}
		p, err := parseWindow(text + " for 1m")
		p.text = strings.TrimSuffix(text, ";")
		return p, err
	})
	if err != nil {
		return Moments{}, fmt.Errorf("time %.100q: %w; times are written like %s", text, err, momentsExample)
	}
	if c.empty() {
		return Moments{}, fmt.Errorf("time %.100q never comes: change its day or its month", text)
	}
	return Moments{Window{c}}, nil
}

// Next returns the first moment after a time; zero if there is none. Where the clock is
// put back, a moment does not come again.
func (m Moments) Next(after time.Time) time.Time {
	if m.minutes.calendar == nil {
		return time.Time{}
	}
	open, until := m.minutes.At(after)
	if open && !until.IsZero() {
		_, until = m.minutes.At(until)
	}
	return until
}

// String returns how users write them, with the time zone.
func (m Moments) String() string { return m.minutes.String() }
