package policy

import (
	"fmt"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/sdk"
)

// tooYoung returns why a candidate has not the minimum age, if it has not and does not fix what makes that not matter.
func (c *circumstances) tooYoung(newer *candidate.Candidate, sentences bool) (reason Reason, young bool) {
	age := c.rules.MinAge
	if age.Value <= 0 {
		return reason, false
	}
	began, did := c.began(newer)
	oldEnough := began.Add(age.Value)
	unread := c.facts.AgesByDigest && newer.Kind == sdk.KindTag && newer.AgedDigest == "" && !oldEnough.After(c.now)
	if !unread && !oldEnough.After(c.now) {
		return reason, false
	}
	c.changes(oldEnough)
	if c.isUrgent(newer) {
		return reason, false
	}
	reason = Reason{Code: ReasonMinAge, Source: age.Source, Until: oldEnough}
	if unread || c.facts.AgeUnread && !newer.Observed && newer.Created.IsZero() {
		reason.Until = time.Time{} // the next check with this rule reads it
		if sentences {
			reason.Text = fmt.Sprintf("%s must be %s old, and its age is not known until the next check", nameOf(newer), spellAge(age.Value))
		}
		return reason, true
	}
	if did != firstSeenNow && sentences {
		did += " on " + began.In(c.now.Location()).Format("2 Jan 2006 15:04")
	}
	if sentences {
		reason.Text = fmt.Sprintf("%s %s and must be %s old", nameOf(newer), did, spellAge(age.Value))
	}
	return reason, true
}

// isUrgent reports whether a candidate fixes vulnerabilities that make its age not matter.
func (c *circumstances) isUrgent(newer *candidate.Candidate) bool {
	from := c.rules.Security.Value
	if from == vulnerability.Unknown || c.facts.Compared == nil {
		return false
	}
	summary, known := c.facts.Compared(*newer)
	return known && summary.Improves(from)
}

// isEarly reports whether a candidate is offered before it has the minimum age.
func (c *circumstances) isEarly(newer *candidate.Candidate) bool {
	began, _ := c.began(newer)
	age := c.rules.MinAge.Value
	return age > 0 && began.Add(age).After(c.now) && c.isUrgent(newer)
}

const firstSeenNow = "was first seen just now"

// began returns the time from which the age of a candidate counts, and what happened then.
func (c *circumstances) began(newer *candidate.Candidate) (at time.Time, did string) {
	at, seen := newer.Began()
	switch {
	case at.IsZero():
		return c.now, firstSeenNow
	case newer.Moved:
		return at, "was moved to another image"
	case seen:
		return at, "was first seen"
	}
	return at, "was released"
}

// FormatAge writes a duration as rules do, in its largest whole unit: "7d", "36h".
func FormatAge(age time.Duration) string {
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if n := age / unit.length; n > 0 && age%unit.length == 0 && (unit.name != "w" || n > 1) {
			return strconv.FormatInt(int64(n), 10) + unit.name
		}
	}
	return age.String()
}

// spellAge is FormatAge in words: "6 weeks", "1 day".
func spellAge(age time.Duration) string {
	text := FormatAge(age)
	number, unit := text[:len(text)-1], text[len(text)-1:]
	word, known := map[string]string{"w": "week", "d": "day", "h": "hour", "m": "minute", "s": "second"}[unit]
	n, err := strconv.Atoi(number)
	switch {
	case err != nil || !known:
		return text
	case n != 1:
		word += "s"
	}
	return number + " " + word
}
