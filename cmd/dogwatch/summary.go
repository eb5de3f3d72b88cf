package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// summary counts rows, and the watchers that could not be listed.
type summary struct {
	images, updates, silent int
	// failed are all that could not be checked, postponed those of them that wait for a registry.
	failed, postponed int
	// unknown are those of which nothing could be compared.
	unknown int
	// kinds are the updates by the words of their rows, the largest step first.
	kinds []kindCount
}

type kindCount struct {
	kind string
	n    int
}

func summarise(rows []row, silent int) summary {
	s := summary{images: len(rows), silent: silent}
	for _, r := range rows {
		switch {
		case r.severity < upToDate:
			s.updates++
			i := slices.IndexFunc(s.kinds, func(k kindCount) bool { return k.kind == r.kind })
			if i < 0 {
				i, s.kinds = len(s.kinds), append(s.kinds, kindCount{kind: r.kind})
			}
			s.kinds[i].n++
		case r.severity == notCompared:
			s.unknown++
		case r.severity == checkFailed:
			s.failed++
			if r.kind == postponed {
				s.postponed++
			}
		}
	}
	order := []string{sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffPrerelease, sdk.KindTag, sdk.KindDigest}
	slices.SortFunc(s.kinds, func(a, b kindCount) int { return slices.Index(order, a.kind) - slices.Index(order, b.kind) })
	return s
}

func (s summary) sentence(took time.Duration) string {
	text := fmt.Sprintf("Checked %s in %s: %s", count(s.images, "image"), brief(took), count(s.updates, "update"))
	if len(s.kinds) > 0 {
		var parts []string
		for _, k := range s.kinds {
			parts = append(parts, fmt.Sprintf("%d %s", k.n, k.kind))
		}
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	if n := s.failed - s.postponed; n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	if s.postponed > 0 {
		text += fmt.Sprintf(", %d postponed", s.postponed)
	}
	if s.unknown > 0 {
		text += fmt.Sprintf(", %d unknown", s.unknown)
	}
	if s.silent > 0 {
		text += fmt.Sprintf(", %s could not be asked", count(s.silent, "watcher"))
	}
	return text
}

// nothingFound says what to do where there is nothing to check.
const nothingFound = "No containers were found: start one, set watchall to see stopped ones too, or name images, such as dogwatch check nginx:1.25"

// count writes "no updates", "1 update", "2 updates".
func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// brief writes a duration for a reader: 832 ms, 4.1 s, 2m3s.
func brief(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
