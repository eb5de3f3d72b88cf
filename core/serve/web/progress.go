package web

import (
	"fmt"

	"github.com/dogwatch/dogwatch/core/watch/check"
)

// going is how far the check of a watcher is; its zero value when that is not known yet.
type going struct {
	Name           string
	Checked, Total int
}

// goingOf finds a watcher among the checks that are under way.
func goingOf(watcher string, progress []check.Progress) going {
	for _, p := range progress {
		if p.Watcher == watcher {
			return going{Name: watcher, Checked: p.Checked, Total: p.Total}
		}
	}
	return going{Name: watcher}
}

// Words are "5 of 6", or "" when it is not known.
func (g going) Words() string {
	if g.Total == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", g.Checked, g.Total)
}

// goingOn adds to a sentence about all containers that they are being checked.
func goingOn(sentence string, checks []check.Progress) string {
	sum := going{}
	for _, p := range checks {
		sum.Checked, sum.Total = sum.Checked+p.Checked, sum.Total+p.Total
	}
	if progress := sum.Words(); progress != "" {
		sentence += " · being checked, " + progress
	}
	return sentence
}
