package words

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
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

// Progress is how far checks are in all: "5 of 6"; nil where that is not known.
func Progress(all ...check.Progress) phrase.Phrase {
	checked, total := sumOf(all)
	if total == 0 {
		return nil
	}
	return phrase.New("%d of %d", checked, total)
}

// Checked is Progress with its noun: "5 of 6 containers", and "6 containers" of all.
func Checked(all ...check.Progress) phrase.Phrase {
	checked, total := sumOf(all)
	switch total {
	case 0:
		return nil
	case checked:
		return phrase.Count(total, "container")
	}
	return phrase.New("%d of %s", checked, phrase.Count(total, "container"))
}

func sumOf(all []check.Progress) (checked, total int) {
	for _, p := range all {
		checked, total = checked+p.Checked, total+p.Total
	}
	return checked, total
}
