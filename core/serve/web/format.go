package web

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// ago is how long ago or ahead a time is, as HTML with the exact time on hover.
func (u *UI) ago(at any) template.HTML {
	t := instant(at)
	if t.IsZero() {
		return "not yet"
	}
	// All that goes in is digits and words of ours.
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `" title="` + exactly(t) + `">` +
		relative(u.Now().Sub(t)) + `</time>`)
}

// exactly is a time to the second.
func exactly(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func instant(at any) time.Time {
	switch t := at.(type) {
	case time.Time:
		return t
	case sdk.Time:
		return t.Time
	}
	return time.Time{}
}

// relative says how long ago something was; negative is in the future.
func relative(d time.Duration) string {
	if d < 0 {
		if d > -time.Second {
			return "now"
		}
		return "in " + span(-d)
	}
	if d < 5*time.Second {
		return "just now"
	}
	return span(d) + " ago"
}

// span is a duration in its largest unit: "45 s", "12 min", "3 h", "8 d", "5 months".
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < 60*day:
		return fmt.Sprintf("%d d", d/day)
	case d < 2*365*day:
		return fmt.Sprintf("%d months", d/(30*day))
	}
	return fmt.Sprintf("%d years", d/(365*day))
}

// plural is a number with its noun: "1 update", "3 updates".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, y := strings.CutSuffix(noun, "y"); y && !strings.ContainsAny(stem[len(stem)-1:], "aeou") {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
