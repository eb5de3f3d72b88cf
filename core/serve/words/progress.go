package words

import (
	"fmt"

	"github.com/dogwatch/dogwatch/core/watch/check"
)

// ProgressOf returns how far the check of a watcher is, of those under way; Total is 0 where that is not known.
func ProgressOf(watcher string, all []check.Progress) check.Progress {
	for _, p := range all {
		if p.Watcher == watcher {
			return p
		}
	}
	return check.Progress{Watcher: watcher}
}

// Progress is how far checks are in all: "5 of 6"; "" where that is not known.
func Progress(all ...check.Progress) string {
	checked, total := 0, 0
	for _, p := range all {
		checked, total = checked+p.Checked, total+p.Total
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", checked, total)
}
