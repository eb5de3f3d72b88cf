package overview

import (
	"time"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// tile is a number that leads to the list of what it counts.
type tile struct {
	Count           int
	Word, Class, To string
	// Parts are what the number is made of.
	Parts []tile
	// Checks is what stands in place of a number on the tile of the checks.
	Checks *checksTile
}

// checksTile is when engines were and will be checked; a zero time is left out.
type checksTile struct {
	Last, Next time.Time
	Running    bool
}

// stateTile leads to the list of the containers in a state.
func stateTile(n int, word, state string) tile {
	return tile{Count: n, Word: word, Class: state, To: "/containers?state=" + state}
}

// tilesOf counts all containers once, as the filters of their list do: in updates, failures and the rest. The updates
// that are to be approved, held or automatic are some of the first.
func tilesOf(t tally.Counts, down int, watchers []watcherLine) []tile {
	if t.All == 0 {
		return nil
	}
	updates := stateTile(t.Updates, "updates", "updates")
	if t.Updates == 1 {
		updates.Word = "update"
	}
	updates.Parts = counted(
		stateTile(t.Major, "major", sdk.DiffMajor), stateTile(t.Minor, "minor", sdk.DiffMinor),
		stateTile(t.Patch, "patch", sdk.DiffPatch), stateTile(t.Prerelease, "prerelease", sdk.DiffPrerelease),
		stateTile(t.Digest, tally.Word(sdk.KindDigest), sdk.KindDigest),
		stateTile(t.Others, tally.Word(tally.Other), tally.Other),
	)
	silent := tile{Count: down, Word: "failed watchers", Class: string(tally.Broken), To: "/watchers"}
	if down == 1 {
		silent.Word = "failed watcher"
	}
	all := append(counted(silent), updates)
	all = append(all, counted(
		stateTile(t.Approval, "to approve", "approval"), stateTile(t.Held, "held", sdk.StateHeld),
		stateTile(t.Automatic, "automatic", sdk.StateAutomatic),
	)...)
	all = append(all, stateTile(t.Failed, "failed", string(tally.Broken)))
	all = append(all, counted(
		stateTile(t.Postponed, "postponed", string(tally.Postponed)),
		stateTile(t.Unchecked, "not checked yet", string(tally.Unchecked)),
		stateTile(t.Unknown, "unknown", string(tally.NotCompared)),
	)...)
	all = append(all, stateTile(t.Current, "up to date", string(tally.Current)))
	checks := &checksTile{}
	for _, w := range watchers {
		checks.Running = checks.Running || w.Running
		if w.Last.After(checks.Last) {
			checks.Last = w.Last
		}
		if checks.Next.IsZero() || !w.Next.IsZero() && w.Next.Before(checks.Next) {
			checks.Next = w.Next
		}
	}
	return append(all, tile{To: "/watchers", Checks: checks})
}

// counted leaves out the tiles of nothing.
func counted(all ...tile) (some []tile) {
	for _, t := range all {
		if t.Count > 0 {
			some = append(some, t)
		}
	}
	return some
}
