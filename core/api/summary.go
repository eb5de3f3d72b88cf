package api

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// summary are the numbers that dashboards show. Updates counts what the list of
// containers marks with updateAvailable, and is the sum of the kinds below it. A
// container whose last check failed may still have the update that was found before.
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
		h.reply(w, r, counted)
		return
	}
	h.fail(w, r, http.StatusNotFound, "Watcher not found")
}

// summarise counts the containers of one watcher, or of all when it is "". It
// reports whether there is such a watcher.
func (h *handler) summarise(watcher string) (s summary, known bool) {
	records := h.Store.Snapshot().All()
	var watchers []string
	for _, c := range h.Components.All(kind.Watcher) {
		watchers = append(watchers, c.Name)
	}
	if watcher != "" {
		watchers = slices.DeleteFunc(watchers, func(name string) bool { return !strings.EqualFold(name, watcher) })
		records = slices.DeleteFunc(slices.Clone(records), func(rec *store.Record) bool { return !strings.EqualFold(rec.Container.Watcher, watcher) })
	}
	for _, rec := range records {
		s.count(&rec.Container)
	}
	var next time.Time
	for _, name := range watchers {
		if at := h.Checks.Next(name); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	s.NextCheck = sdk.TimeOf(next)
	return s, watcher == "" || len(watchers) > 0 || len(records) > 0
}

func (s *summary) count(c *sdk.Container) {
	s.Containers++
	if c.Check.At.After(s.LastCheck.Time) {
		s.LastCheck = c.Check.At
	}
	if c.Check.Postponed() {
		s.Postponed++
	}
	switch {
	case c.Check.State == sdk.CheckFailed:
		s.Failed++
	case c.Check.State != sdk.CheckOK:
		s.Unchecked++
	case !c.UpdateAvailable:
		s.UpToDate++
	}
	if !c.UpdateAvailable {
		return
	}
	s.Updates++
	switch {
	case c.UpdateKind.Kind == sdk.KindDigest:
		s.Digest++
	case c.UpdateKind.SemverDiff == sdk.DiffMajor:
		s.Major++
	case c.UpdateKind.SemverDiff == sdk.DiffMinor:
		s.Minor++
	case c.UpdateKind.SemverDiff == sdk.DiffPatch:
		s.Patch++
	case c.UpdateKind.SemverDiff == sdk.DiffPrerelease:
		s.Prerelease++
	default:
		s.Other++
	}
}
