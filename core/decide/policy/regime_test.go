package policy

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/model/update"
)

// regime is the rules of some containers.
type regime struct {
	rebuilt bool
	mode    Mode
	rules   map[string]string
	open    func(time.Time) bool // what window and freeze of the rules mean
}

// years returns the rules of the containers of a year. Windows and freezes are written
// out by the clock on the wall.
func years(zone *time.Location) []regime {
	wall := func(in func(t time.Time) bool) func(time.Time) bool {
		return func(t time.Time) bool { return in(t.In(zone)) }
	}
	always := func(time.Time) bool { return true }
	hours := func(t time.Time, from, to int) bool { return t.Hour() >= from && t.Hour() < to }
	weekend := wall(func(t time.Time) bool {
		return (t.Weekday() == time.Saturday || t.Weekday() == time.Sunday) && hours(t, 2, 5)
	})
	christmas := wall(func(t time.Time) bool {
		return !(t.Month() == time.December && t.Day() >= 20 || t.Month() == time.January && t.Day() <= 5)
	})
	return []regime{
		{open: always, mode: Notify},
		{open: always, mode: Approve, rules: map[string]string{RuleThreshold: "minor"}},
		{open: always, mode: Auto, rules: map[string]string{RuleMinAge: "7d"}},
		{open: always, mode: Notify, rules: map[string]string{RuleMinAge: "2w", RuleThreshold: "patch", RuleSkip: `\.7$`}},
		{open: weekend, mode: Auto, rules: map[string]string{RuleWindow: "Sat,Sun 02:00-05:00"}},
		{
			open: weekend, mode: Notify,
			rules: map[string]string{RuleWindow: "Sat,Sun 2am-5am", RuleMinAge: "36h", RuleThreshold: "minor"},
		},
		{
			open: wall(func(t time.Time) bool { return t.Hour() >= 22 || t.Hour() < 6 }), mode: Approve,
			rules: map[string]string{RuleWindow: "daily 22:00-06:00"},
		},
		{
			open:  wall(func(t time.Time) bool { return t.Weekday() == time.Sunday && t.Day() <= 7 && hours(t, 3, 6) }),
			mode:  Auto,
			rules: map[string]string{RuleWindow: "first Sunday 03:00-06:00", RuleMinAge: "7d"},
		},
		{open: christmas, mode: Notify, rules: map[string]string{RuleFreeze: "12-20..01-05", RuleMinAge: "3d"}},
		{
			open: wall(func(t time.Time) bool {
				return christmas(t) && t.Weekday() != time.Saturday && t.Weekday() != time.Sunday && hours(t, 1, 4)
			}), mode: Auto,
			rules: map[string]string{
				RuleWindow: "weekdays 1am-4am", RuleFreeze: "2025-12-20..2026-01-05;2026-12-20..2027-01-05",
			},
		},
		{rebuilt: true, open: always, mode: Notify},
		{rebuilt: true, open: always, mode: Auto, rules: map[string]string{RuleMinAge: "7d"}},
		{
			rebuilt: true, open: weekend, mode: Auto,
			rules: map[string]string{RuleWindow: "Sat,Sun 02:00-05:00", RuleMinAge: "2d"},
		},
	}
}

// container returns a container with the rules of a regime.
func (w regime) container(t *testing.T, seed uint64, zone *time.Location) *container {
	t.Helper()
	r := rand.New(rand.NewPCG(11, seed))
	c := &container{
		random: r, about: fmt.Sprintf("%s %v (%d)", w.mode, w.rules, seed), rebuilt: w.rebuilt, dated: r.IntN(2) == 0,
		open:    w.open,
		running: release{major: 1}, back: map[string]bool{}, offered: map[update.Key]time.Time{},
		begun: map[string]bool{}, seen: map[string]int{},
	}
	c.update.Subject = "local/web"
	c.facts.MayUpdate = r.IntN(4) > 0
	c.facts.CameBack = func(k candidate.Candidate) (time.Time, bool) { return time.Time{}, c.back[k.Tag+k.Digest] }
	c.rules.Mode = set(w.mode, "policy.update")
	for name, text := range w.rules {
		if err := c.rules.Set(name, text, "policy."+name, zone); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
