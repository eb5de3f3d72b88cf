package words

import (
	"fmt"

	"github.com/dogwatch/dogwatch/core/watch/check"
)

// CheckProgress is how far the check of a watcher is; its zero value when that is not known yet.
type CheckProgress struct {
	Name           string
	Checked, Total int
}

// CheckProgressOf finds a watcher among the checks that are under way.
func CheckProgressOf(watcher string, progress []check.Progress) CheckProgress {
	for _, p := range progress {
		if p.Watcher == watcher {
			return CheckProgress{Name: watcher, Checked: p.Checked, Total: p.Total}
		}
	}
	return CheckProgress{Name: watcher}
}

// Words are "5 of 6", or "" when it is not known.
func (g CheckProgress) Words() string {
	if g.Total == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", g.Checked, g.Total)
}

// BeingChecked adds to a sentence about all containers that they are being checked.
func BeingChecked(sentence string, checks []check.Progress) string {
	sum := CheckProgress{}
	for _, p := range checks {
		sum.Checked, sum.Total = sum.Checked+p.Checked, sum.Total+p.Total
	}
	if progress := sum.Words(); progress != "" {
		sentence += " · being checked, " + progress
	}
	return sentence
}
