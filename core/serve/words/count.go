package words

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/tally"
)

// Counts says how things stand, in a line that begins with what else is to be said.
func Counts(t tally.Counts, parts ...string) string {
	if t.All == 0 && len(parts) == 0 {
		return "No containers yet"
	}
	if open := t.Updates - t.Held; open > 0 {
		parts = append(parts, Plural(open, "update"))
	}
	if t.Held > 0 {
		parts = append(parts, fmt.Sprintf("%d held", t.Held))
	}
	if t.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", t.Failed))
	}
	if t.Postponed > 0 {
		parts = append(parts, Plural(t.Postponed, "postponed check"))
	}
	if t.Unchecked > 0 {
		parts = append(parts, Plural(t.Unchecked, "container")+" not checked yet")
	}
	if t.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown", t.Unknown))
	}
	if len(parts) == 0 {
		return "Everything is up to date"
	}
	if t.Current > 0 {
		parts = append(parts, Plural(t.Current, "container")+" up to date")
	}
	text := strings.Join(parts, " · ")
	if t.Stale > 0 {
		text += fmt.Sprintf("; %d with an update failed as well", t.Stale)
	}
	return text
}

// Times is how often something was done: "once", "twice", "3 times".
func Times(n int) string {
	return cmp.Or(map[int]string{1: "once", 2: "twice"}[n], fmt.Sprintf("%d times", n))
}

// Plural is a number with its noun: "1 update", "3 updates".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, y := strings.CutSuffix(noun, "y"); y && !strings.ContainsAny(stem[len(stem)-1:], "aeou") {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Bytes writes a size as users read it; "" for none.
func Bytes(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
