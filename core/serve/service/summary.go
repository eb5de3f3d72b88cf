package service

import (
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Summary is what dashboards show of the containers of one watcher, or of all.
type Summary struct {
	tally.Counts
	// FailedWatchers are those that do not work: most often, their engine cannot be reached.
	FailedWatchers int
	// LastCheck is when a container was checked last, NextCheck when the next watcher
	// is; zero when that is not known.
	LastCheck, NextCheck time.Time
}

// Summary counts the containers of one watcher, whatever the letter case of its
// name, or of all when it is "". It reports whether there is such a watcher, be it
// only that containers of it are stored.
func (s *Service) Summary(watcher string) (sum Summary, known bool) {
	records := s.opt.Store.Snapshot().All()
	known = watcher == ""
	for _, c := range s.opt.Components.All(kind.Watcher) {
		if watcher != "" && !strings.EqualFold(c.Name, watcher) {
			continue
		}
		known = true
		if state, _ := c.State(); state == component.Failed {
			sum.FailedWatchers++
		}
		if next := s.opt.Checks.Next(c.Name); !next.IsZero() && (sum.NextCheck.IsZero() || next.Before(sum.NextCheck)) {
			sum.NextCheck = next
		}
	}
	if watcher != "" {
		records = slices.DeleteFunc(slices.Clone(records), func(rec *store.Record) bool {
			return !strings.EqualFold(rec.Container.Watcher, watcher)
		})
	}
	for _, rec := range records {
		sum.Add(&rec.Container)
		if checked := rec.Container.Check.At.Time; checked.After(sum.LastCheck) {
			sum.LastCheck = checked
		}
	}
	return sum, known || len(records) > 0
}
