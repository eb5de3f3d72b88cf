package overview

import (
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// tile is a number that leads to the list of what it counts.
type tile struct {
	Count     int
	Word      phrase.Phrase
	Class, To string
	// Parts are what the number is made of, and Among some of what it counts.
	Parts, Among []tile
	// Checks is what stands in place of a number on the tile of the checks.
	Checks *checksTile
}

// checksTile is when engines were and will be checked; a zero time is left out.
type checksTile struct {
	Last, Next time.Time
	Running    bool
}

// stateTile leads to the list of the containers in a state.
func stateTile(n int, word phrase.Phrase, state string) tile {
	return tile{Count: n, Word: word, Class: state, To: "/containers?state=" + state}
}

// tilesOf counts all containers once, as the filters of their list do: in updates, failures and the rest. The updates
// that are to be approved, held or automatic are some of the first.
func tilesOf(t tally.Counts, down int, watchers []watcherLine) []tile {
	if t.All == 0 {
		return nil
	}
	updates := stateTile(t.Updates, phrase.New("updates"), "updates")
	if t.Updates == 1 {
		updates.Word = phrase.New("update")
	}
	updates.Parts = counted(
		stateTile(t.Major, phrase.New("major"), sdk.DiffMajor), stateTile(t.Minor, phrase.New("minor"), sdk.DiffMinor),
		stateTile(t.Patch, phrase.New("patch"), sdk.DiffPatch), stateTile(t.Prerelease, phrase.New("prerelease"), sdk.DiffPrerelease),
		stateTile(t.Digest, words.Kind(sdk.KindDigest), sdk.KindDigest),
		stateTile(t.Others, words.Kind(tally.Other), tally.Other),
	)
	silent := tile{Count: down, Word: phrase.New("failed watchers"), Class: string(tally.Broken), To: "/watchers"}
	if down == 1 {
		silent.Word = phrase.New("failed watcher")
	}
	updates.Among = counted(
		stateTile(t.Approval, phrase.New("to approve"), "approval"), stateTile(t.Held, phrase.New("held"), sdk.StateHeld),
		stateTile(t.Automatic, phrase.New("automatic"), sdk.StateAutomatic),
	)
	all := append(counted(silent), updates)
	failed := stateTile(t.Failed, phrase.New("checks failed"), string(tally.Broken))
	if t.Failed == 1 {
		failed.Word = phrase.New("check failed")
	}
	if t.Failed > 0 || down == 0 { // a watcher that failed has its tile, and none of its checks succeeded
		all = append(all, failed)
	}
	all = append(all, counted(
		stateTile(t.Postponed, phrase.New("postponed"), string(tally.Postponed)),
		stateTile(t.Unchecked, phrase.New("not checked yet"), string(tally.Unchecked)),
		stateTile(t.Unknown, phrase.New("unknown"), string(tally.NotCompared)),
	)...)
	all = append(all, stateTile(t.Current, phrase.New("up to date"), string(tally.Current)))
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
