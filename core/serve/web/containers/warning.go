package containers

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/store"
)

// warning is the first thing that the notes of releases on the way to an update warn of.
type warning struct {
	Word        phrase.Phrase
	Class, Text string
	// More is how many others there are.
	More int
}

// maxWarned is how many rows Warn reads notes for.
const maxWarned = 10

// Warn has the first rows of major updates say what the notes of these warn of, as far as those were read before.
func (h *Handler) Warn(ctx context.Context, records []*store.Record, lists ...[]Row) {
	byKey := make(map[string]*store.Record, len(records))
	for _, rec := range records {
		byKey[rec.Container.Watcher+"/"+rec.Container.Name] = rec
	}
	left := maxWarned
	for _, rows := range lists {
		for i := range rows {
			if r := &rows[i]; r.Kind == "major" && left > 0 {
				r.Warning = h.warningOf(ctx, byKey[r.Key])
				left--
			}
		}
	}
}

// warningOf returns nil where nothing is known. What breaks comes before what is to be done.
func (h *Handler) warningOf(ctx context.Context, rec *store.Record) *warning {
	var breaking, action []string
	for _, release := range h.service.KnownWarnings(ctx, rec.Container, "") {
		breaking, action = append(breaking, release.Breaking...), append(action, release.Action...)
	}
	w := &warning{More: len(breaking) + len(action) - 1}
	switch {
	case len(breaking) > 0:
		w.Word, w.Class, w.Text = phrase.New("breaking"), "major", h.Markdown().Plain(breaking[0])
	case len(action) > 0:
		w.Word, w.Class, w.Text = phrase.New("to do"), "minor", h.Markdown().Plain(action[0])
	default:
		return nil
	}
	return w
}
