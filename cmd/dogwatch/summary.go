package main

import (
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// summary counts rows, and the watchers that could not be listed.
type summary struct {
	tally.Counts
	silent int
	// missed could not be checked; one with a wrong label alone was.
	missed int
	// outages are what several rows fail by.
	outages []tally.Failure[row]
}

func summarise(rows []row, silent int) summary {
	s := summary{silent: silent, outages: outagesOf(rows)}
	for _, r := range rows {
		s.Add(r.container)
		part := tally.PartOf(r.container)
		if part == tally.Postponed || part == tally.Unchecked || r.container.Check.State == sdk.CheckFailed {
			s.missed++
		}
	}
	return s
}

func (s summary) sentence(took time.Duration) string {
	updates := phrase.Count(s.Updates, "update").String()
	if kinds := words.Kinds(s.Counts); kinds != nil {
		updates += fmt.Sprintf(" (%s)", kinds)
	}
	if s.Held > 0 {
		updates += fmt.Sprintf(", %d of them held", s.Held)
	}
	parts := append([]phrase.Phrase{phrase.Verbatim(updates)}, words.Others(s.Counts)...)
	if s.silent > 0 {
		parts = append(parts, phrase.Count(s.silent, "failed watcher"))
	}
	text := fmt.Sprintf("Checked %s in %s: %s", phrase.Count(s.All, "image"), words.Took(took),
		phrase.Join("; ", phrase.Join(", ", parts...), words.Stale(s.Counts)))
	for _, f := range s.outages {
		text += fmt.Sprintf(". %s: %s (%s)", f.Text, phrase.Count(len(f.Of), "image"), f.Detail)
	}
	return text
}

// nothingFound says what to do where there is nothing to check.
const nothingFound = "No containers were found: start one, set watchall to see stopped ones too, or name images, such as dogwatch check nginx:1.25"
