package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// summary counts rows, and the watchers that could not be listed.
type summary struct {
	tally.Counts
	silent int
	// missed could not be checked; one with a wrong label alone was.
	missed int
	// kinds are the updates by the words of their rows, the largest step first.
	kinds []kindCount
	// outages are what several rows fail by.
	outages []tally.Failure[row]
}

type kindCount struct {
	kind string
	n    int
}

func summarise(rows []row, silent int) summary {
	s := summary{silent: silent}
	for _, r := range rows {
		s.Add(r.of)
		part := tally.PartOf(r.of)
		if part == tally.Postponed || part == tally.Unchecked || r.of.Check.State == sdk.CheckFailed {
			s.missed++
		}
		if part != tally.Update {
			continue
		}
		i := slices.IndexFunc(s.kinds, func(k kindCount) bool { return k.kind == r.kind })
		if i < 0 {
			i, s.kinds = len(s.kinds), append(s.kinds, kindCount{kind: r.kind})
		}
		s.kinds[i].n++
	}
	order := []string{sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffPrerelease, tally.Word(tally.Other),
		tally.Word(sdk.KindDigest)}
	slices.SortFunc(s.kinds, func(a, b kindCount) int { return slices.Index(order, a.kind) - slices.Index(order, b.kind) })
	s.outages = outagesOf(rows)
	return s
}

func (s summary) sentence(took time.Duration) string {
	text := fmt.Sprintf("Checked %s in %s: %s", count(s.All, "image"), brief(took), count(s.Updates, "update"))
	if len(s.kinds) > 0 {
		var parts []string
		for _, k := range s.kinds {
			parts = append(parts, fmt.Sprintf("%d %s", k.n, k.kind))
		}
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	for _, p := range []struct {
		n    int
		word string
	}{{s.Failed, "failed"}, {s.Postponed, "postponed"}, {s.Unchecked, "not checked"}, {s.Unknown, "unknown"}} {
		if p.n > 0 {
			text += fmt.Sprintf(", %d %s", p.n, p.word)
		}
	}
	if s.Current > 0 && s.Current < s.All {
		text += fmt.Sprintf(", %d up to date", s.Current)
	}
	if s.silent > 0 {
		text += fmt.Sprintf(", %s could not be asked", count(s.silent, "watcher"))
	}
	if s.Stale > 0 {
		text += fmt.Sprintf("; %d with an update failed as well", s.Stale)
	}
	for _, f := range s.outages {
		text += fmt.Sprintf(". %s: %s (%s)", f.Text, count(len(f.Of), "image"), f.Detail)
	}
	return text
}

// nothingFound says what to do where there is nothing to check.
const nothingFound = "No containers were found: start one, set watchall to see stopped ones too, or name images, such as dogwatch check nginx:1.25"

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
