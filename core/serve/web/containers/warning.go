package containers

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/store"
)

// warnings are the first things that the notes of releases on the way to an update warn of.
type warnings struct {
	Lines []warning
	// More is how many others there are.
	More int
}

// warning is one of them.
type warning struct {
	Word        phrase.Phrase
	Class, Text string
}

const (
	// maxWarned is how many rows Warn reads notes for, and maxLines how many warnings of a row are shown in full.
	maxWarned = 10
	maxLines  = 3
)

// Warn has the first rows of major updates say what the notes of these warn of, as far as those were read before: some
// lines in rows that wait for the user, and one in others.
func (h *Handler) Warn(ctx context.Context, records []*store.Record, waiting, others []Row) {
	byKey := make(map[string]*store.Record, len(records))
	for _, rec := range records {
		byKey[rec.Container.Watcher+"/"+rec.Container.Name] = rec
	}
	left := maxWarned
	for i, rows := range [][]Row{waiting, others} {
		most := maxLines
		if i > 0 {
			most = 1
		}
		for i := range rows {
			if r := &rows[i]; r.Kind == "major" && left > 0 {
				r.Warnings = h.warningsOf(ctx, byKey[r.Key], most)
				left--
			}
		}
	}
}

// warningsOf are at most so many warnings. What breaks comes before what is to be done.
func (h *Handler) warningsOf(ctx context.Context, rec *store.Record, most int) (w warnings) {
	var breaking, action []string
	for _, release := range h.service.KnownWarnings(ctx, rec.Container, "") {
		breaking, action = append(breaking, release.Breaking...), append(action, release.Action...)
	}
	for _, line := range breaking {
		w.Lines = append(w.Lines, warning{phrase.New("breaking"), "major", h.Markdown().Plain(line)})
	}
	for _, line := range action {
		w.Lines = append(w.Lines, warning{phrase.New("to do"), "minor", h.Markdown().Plain(line)})
	}
	shown := min(most, len(w.Lines))
	w.Lines, w.More = w.Lines[:shown], len(w.Lines)-shown
	return w
}
