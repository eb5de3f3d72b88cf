package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/tally/tallytest"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
)

// everyKind has a container of each sort that a summary counts.
func everyKind() []sdk.Container {
	kinds := []sdk.UpdateKind{
		{Kind: sdk.KindTag, SemverDiff: sdk.DiffMajor}, {Kind: sdk.KindTag, SemverDiff: sdk.DiffMinor},
		{Kind: sdk.KindTag, SemverDiff: sdk.DiffPatch},
		{Kind: sdk.KindTag, SemverDiff: sdk.DiffPrerelease}, {Kind: sdk.KindTag, SemverDiff: sdk.DiffUnknown},
		{Kind: sdk.KindTag}, {Kind: sdk.KindDigest},
	}
	all := varied()[2:] // up to date, failed, and not checked
	for i, k := range kinds {
		c := nginx()
		c.ID, c.Name, c.UpdateKind = string(rune('a'+i)), "update-"+string(rune('a'+i)), k
		all = append(all, c)
	}
	return all
}

func TestSummary(t *testing.T) {
	w := start(t, nil)
	w.checks.next = time.Date(2026, 3, 29, 2, 0, 0, 0, time.UTC)
	same(t, "of nothing", w.get("/api/summary").want(200).object(), map[string]any{
		"containers": 0, "updates": 0, "major": 0, "minor": 0, "patch": 0, "prerelease": 0, "digest": 0, "other": 0,
		"offered": 0, "held": 0, "automatic": 0,
		"upToDate": 0, "failed": 0, "unchecked": 0, "unknown": 0, "postponed": 0, "stale": 0, "failedWatchers": 0,
		"nextCheck": "2026-03-29T02:00:00.000Z"})
	all := everyKind()
	all[0].Check.PostponedUntil, all[2].Check.PostponedUntil = all[0].Check.At, all[0].Check.At
	last := len(all) - 1
	all[last].Decision, all[last-1].Decision = &sdk.Decision{State: sdk.StateHeld}, &sdk.Decision{State: sdk.StateHeld}
	all[last-2].Decision, all[last-3].Decision = &sdk.Decision{State: sdk.StateAutomatic}, &sdk.Decision{
		State: sdk.StateOffered,
	}
	uncompared := nginx()
	uncompared.ID, uncompared.Name, uncompared.UpdateAvailable = "uncompared", "uncompared", false
	uncompared.Check.State, uncompared.Check.Reason = sdk.CheckUnknown, "built here"
	w.put(append(all, uncompared)...)
	same(t, "of all", w.get("/api/summary").want(200).object(), map[string]any{
		"containers": 11, "updates": 7, "major": 1, "minor": 1, "patch": 1, "prerelease": 1, "digest": 1, "other": 2,
		"offered": 4, "held": 2, "automatic": 1,
		"upToDate": 0, "failed": 1, "unchecked": 0, "unknown": 1, "postponed": 2, "stale": 0, "failedWatchers": 0,
		"lastCheck": "2026-03-29T01:30:00.000Z", "nextCheck": "2026-03-29T02:00:00.000Z"})
	// A watcher that is configured no more still has its containers.
	same(t, "of the failed one's watcher", w.get("/api/summary?watcher=Remote").want(200).object(), map[string]any{
		"containers": 1, "updates": 0, "major": 0, "minor": 0, "patch": 0, "prerelease": 0, "digest": 0, "other": 0,
		"offered": 0, "held": 0, "automatic": 0,
		"upToDate": 0, "failed": 1, "unchecked": 0, "unknown": 0, "postponed": 0, "stale": 0, "failedWatchers": 0})
	w.get("/api/summary?watcher=nowhere").fails(404, "Watcher not found")
	w.get("/api/summary?wacher=local").fails(400, "did you mean watcher?")
	w.get("/api/summary?watcher=a&watcher=b").fails(400, "given 2 times")
	known := w.get("/api/summary").header.Get("ETag")
	w.get("/api/summary", "If-None-Match", known).want(304)
}

// TestSummaryAgreesWithTheList: a container whose check failed keeps the update it had.
func TestSummaryAgreesWithTheList(t *testing.T) {
	w := start(t, nil)
	c := nginx()
	c.Check.State, c.Error = sdk.CheckFailed, &sdk.ContainerError{Message: "503"}
	w.put(c)
	got := w.get("/api/summary").want(200).object()
	same(t, "its numbers", []any{got["updates"], got["minor"], got["stale"], got["failed"], got["upToDate"]},
		[]any{1, 1, 1, 0, 0})
	same(t, "the list", len(w.get("/api/containers?updateAvailable=true").list()), 1)
}

// TestSummaryAddsUp over random fleets, whose numbers the badge has as well.
func TestSummaryAddsUp(t *testing.T) {
	for seed := range uint64(tallytest.Fleets) {
		var counted service.Summary
		fleet := tallytest.Fleet(seed)
		for i := range fleet {
			counted.Add(&fleet[i])
		}
		s := summaryOf(counted)
		if sum := s.Updates + s.UpToDate + s.Failed + s.Unchecked + s.Unknown +
			s.Postponed; s.Containers != len(fleet) || sum != len(fleet) {
			t.Errorf("fleet %d of %d: %+v", seed, len(fleet), s)
		}
		text, _ := badgeText(s)
		for of, word := range map[int]string{s.Updates: "update", s.Held: "held", s.Failed: "failed",
			s.Stale: "stale", s.Unknown: "unknown"} {
			if of > 0 && !strings.Contains(text, fmt.Sprintf("%d %s", of, word)) {
				t.Errorf("fleet %d: the badge says %q of %+v", seed, text, s)
			}
		}
	}
}
