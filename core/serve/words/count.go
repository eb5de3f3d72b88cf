package words

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// Counts says how things stand, in a line that begins with what else is to be said.
func Counts(t tally.Counts, parts ...phrase.Phrase) phrase.Phrase {
	if t.All == 0 && len(parts) == 0 {
		return phrase.New("No containers yet")
	}
	if t.Current == t.All && len(parts) == 0 {
		return phrase.New("Everything is up to date")
	}
	parts = append(append(parts, Updates(t)), Others(t)...)
	return phrase.Join("; ", phrase.Join(" · ", parts...), Stale(t))
}

// Updates is how many updates there are, and how many of them are held: "3 updates (1 held)"; nil for none.
func Updates(t tally.Counts) phrase.Phrase {
	switch {
	case t.Updates == 0:
		return nil
	case t.Held == 0:
		return phrase.Count(t.Updates, "update")
	}
	return phrase.New("%s (%d held)", phrase.Count(t.Updates, "update"), t.Held)
}

// Kinds is how large the updates are: "1 major, 2 rebuilt"; nil where there are none.
func Kinds(t tally.Counts) phrase.Phrase {
	var parts []phrase.Phrase
	for _, of := range []struct {
		n    int
		kind string
	}{
		{t.Major, sdk.DiffMajor}, {t.Minor, sdk.DiffMinor}, {t.Patch, sdk.DiffPatch}, {t.Prerelease, sdk.DiffPrerelease},
		{t.Others, tally.Other}, {t.Digest, sdk.KindDigest},
	} {
		if of.n > 0 {
			parts = append(parts, phrase.New("%d %s", of.n, Kind(of.kind)))
		}
	}
	return phrase.Join(", ", parts...)
}

// Others is how many containers have no update, by the reason: "1 failed", "2 up to date".
func Others(t tally.Counts) (parts []phrase.Phrase) {
	for _, of := range []struct {
		n    int
		text phrase.Phrase
	}{
		{t.Failed, phrase.New("%d failed", t.Failed)},
		{t.Postponed, phrase.New("%d postponed", t.Postponed)},
		{t.Unchecked, phrase.New("%d not checked yet", t.Unchecked)},
		{t.Unknown, phrase.New("%d unknown", t.Unknown)},
		{t.Current, phrase.New("%d up to date", t.Current)},
	} {
		if of.n > 0 {
			parts = append(parts, of.text)
		}
	}
	return parts
}

// Stale ends a sentence about counts: "1 with an update failed as well"; nil for none.
func Stale(t tally.Counts) phrase.Phrase {
	if t.Stale == 0 {
		return nil
	}
	return phrase.New("%d with an update failed as well", t.Stale)
}

// Bytes is a size of n bytes as users read it, in powers of 1000: "999 bytes", "1.5 kB", "71.0 MB"; nil for none.
func Bytes(n int64) phrase.Phrase {
	size := float64(n)
	switch {
	case n <= 0:
		return nil
	case n < 1000:
		return phrase.Count(int(n), "byte")
	case size < 999.95e3:
		return phrase.New("%.1f kB", size/1e3)
	case size < 999.95e6:
		return phrase.New("%.1f MB", size/1e6)
	case size < 999.95e9:
		return phrase.New("%.1f GB", size/1e9)
	}
	return phrase.New("%.1f TB", size/1e12)
}
