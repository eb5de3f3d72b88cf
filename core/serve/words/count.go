package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// Counts says how things stand, in a line that begins with what else is to be said.
func Counts(t tally.Counts, parts ...string) string {
	if t.All == 0 && len(parts) == 0 {
		return "No containers yet"
	}
	if t.Current == t.All && len(parts) == 0 {
		return "Everything is up to date"
	}
	if updates := Updates(t); updates != "" {
		parts = append(parts, updates)
	}
	return strings.Join(slices.Concat(parts, Others(t)), " · ") + Stale(t)
}

// Updates is how many updates there are, and how many of them are held: "3 updates (1 held)"; "" for none.
func Updates(t tally.Counts) string {
	switch {
	case t.Updates == 0:
		return ""
	case t.Held == 0:
		return Plural(t.Updates, "update")
	}
	return fmt.Sprintf("%s (%d held)", Plural(t.Updates, "update"), t.Held)
}

// Kinds is how large the updates are: "1 major, 2 rebuilt".
func Kinds(t tally.Counts) string {
	return strings.Join(counted(count{t.Major, sdk.DiffMajor}, count{t.Minor, sdk.DiffMinor},
		count{t.Patch, sdk.DiffPatch}, count{t.Prerelease, sdk.DiffPrerelease},
		count{t.Others, tally.Word(tally.Other)}, count{t.Digest, tally.Word(sdk.KindDigest)}), ", ")
}

// Others is how many containers have no update, by the reason: "1 failed", "2 up to date".
func Others(t tally.Counts) []string {
	return counted(count{t.Failed, "failed"}, count{t.Postponed, "postponed"}, count{t.Unchecked, "not checked yet"},
		count{t.Unknown, "unknown"}, count{t.Current, "up to date"})
}

// Stale ends a sentence about counts: "; 1 with an update failed as well".
func Stale(t tally.Counts) string {
	if t.Stale == 0 {
		return ""
	}
	return fmt.Sprintf("; %d with an update failed as well", t.Stale)
}

type count struct {
	n    int
	word string
}

// counted returns the counts that are not 0.
func counted(all ...count) (parts []string) {
	for _, c := range all {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	return parts
}

// Times is how often something was done: "once", "twice", "3 times".
func Times(n int) string {
	return cmp.Or(map[int]string{1: "once", 2: "twice"}[n], fmt.Sprintf("%d times", n))
}

// Plural is a number with its noun: "no updates", "1 update", "3 updates".
func Plural(n int, noun string) string {
	number, ending := fmt.Sprint(n), "s"
	switch stem, y := strings.CutSuffix(noun, "y"); {
	case n == 1:
		ending = ""
	case y && !strings.ContainsAny(stem[len(stem)-1:], "aeou"):
		noun, ending = stem, "ies"
	}
	if n == 0 {
		number = "no"
	}
	return number + " " + noun + ending
}

// Bytes is a size of n bytes as users read it, in powers of 1000: "999 bytes", "1.5 kB", "71.0 MB"; "" for none.
func Bytes(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n < 1000:
		return Plural(int(n), "byte")
	}
	size, unit := float64(n), ""
	for _, unit = range []string{"kB", "MB", "GB", "TB"} {
		if size /= 1000; size < 999.95 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}
