package api

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/tally"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// summary are the numbers that dashboards show. Updates counts what the list of
// containers marks with updateAvailable, and is the sum of the kinds below it. A
// container whose last check failed may still have the update that was found before.
// Failed are the containers of tally.Failed, as everywhere.
type summary struct {
	Containers int `json:"containers"`
	Updates    int `json:"updates"`
	Major      int `json:"major"`
	Minor      int `json:"minor"`
	Patch      int `json:"patch"`
	Prerelease int `json:"prerelease"`
	Digest     int `json:"digest"`
	// Other are new tags whose distance from the running one has no name.
	Other     int `json:"other"`
	UpToDate  int `json:"upToDate"`
	Failed    int `json:"failed"`
	Unchecked int `json:"unchecked"`
	// Postponed are those of all of these whose check waits for a registry's pause.
	Postponed int `json:"postponed"`
	// FailedWatchers are those that do not work: most often, their engine cannot be reached.
	FailedWatchers int `json:"failedWatchers"`
	// LastCheck is when a container was checked last, NextCheck when the next watcher is.
	LastCheck sdk.Time `json:"lastCheck,omitzero"`
	NextCheck sdk.Time `json:"nextCheck,omitzero"`
}

func (h *handler) summary(w http.ResponseWriter, r *http.Request) {
	given, err := parameters(r, oneOf("watcher"))
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	if counted, known := h.summarise(given["watcher"]); known {
		h.respond(w, r, counted)
		return
	}
	h.fail(w, r, http.StatusNotFound, "Watcher not found")
}

// summarise counts the containers of one watcher, or of all when it is "". It
// reports whether there is such a watcher.
func (h *handler) summarise(watcher string) (s summary, known bool) {
	records := h.Store.Snapshot().All()
	var watchers []string
	failed := 0
	for _, c := range h.Components.All(kind.Watcher) {
		if watcher != "" && !strings.EqualFold(c.Name, watcher) {
			continue
		}
		watchers = append(watchers, c.Name)
		if state, _ := c.State(); state == component.Failed {
			failed++
		}
	}
	if watcher != "" {
		records = slices.DeleteFunc(slices.Clone(records), func(rec *store.Record) bool { return !strings.EqualFold(rec.Container.Watcher, watcher) })
	}
	var n tally.Counts
	for _, rec := range records {
		n.Add(&rec.Container)
		if at := rec.Container.Check.At; at.After(s.LastCheck.Time) {
			s.LastCheck = at
		}
	}
	s.Containers, s.Updates, s.UpToDate, s.Failed, s.Unchecked, s.Postponed = n.All, n.Updates, n.Current, n.Failed, n.Unchecked, n.Postponed
	s.Major, s.Minor, s.Patch, s.Prerelease, s.Digest, s.Other = n.Major, n.Minor, n.Patch, n.Prerelease, n.Digest, n.Others
	s.FailedWatchers = failed
	var next time.Time
	for _, name := range watchers {
		if at := h.Checks.Next(name); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	s.NextCheck = sdk.TimeOf(next)
	return s, watcher == "" || len(watchers) > 0 || len(records) > 0
}
