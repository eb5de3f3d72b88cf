package containers

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// historyLine is one thing that happened to a container.
type historyLine struct {
	At    time.Time
	Words phrase.Phrase
	Bad   bool
}

// happened is what became of a container, newest first. Why nothing could be compared stands above, and here only where
// it was for another reason.
func happened(events []event.Event, c *sdk.Container) []historyLine {
	var lines []historyLine
	for _, e := range events {
		if len(lines) == historyLines {
			break
		}
		if e.Choice == nil && e.Scan == nil && (e.Container == nil || e.Container.Watcher != c.Watcher) {
			continue
		}
		if before := e.Container; before != nil && tally.Unknown(before) && before.Check.Reason == c.Check.Reason {
			shown := *before
			shown.Check.Reason = ""
			e.Container = &shown
		}
		text, class := words.Event(e)
		lines = append(lines, historyLine{At: e.At, Words: phrase.Capital(text), Bad: class == "failed"})
	}
	return lines
}

// failureEvents are how many events of a container are read at most for since when it fails.
const failureEvents = 100

// failedSince returns since when the checks of a container fail, whose subject is given; the zero time where its newest
// events do not say.
func (h *Handler) failedSince(ctx context.Context, actor auth.Actor, subject string) (since time.Time) {
	events, err := h.service.History(ctx, actor, event.Filter{SkipReleased: true, Subject: subject, Limit: failureEvents})
	if err != nil {
		h.Log.Warn("read since when a container fails", "container", subject, "error", err)
	}
	for _, e := range events {
		if e.Container != nil && !tally.Failed(e.Container) {
			return since
		}
		if e.Container != nil {
			since = e.At
		}
	}
	if len(events) == failureEvents {
		return time.Time{} // it began before these
	}
	return since
}

// maxNames is how many names of one container its history goes back.
const maxNames = 5

// historyOf returns what happened to a container, newest first, under the names
// that it had before, too.
func (h *Handler) historyOf(ctx context.Context, actor auth.Actor, c *sdk.Container) (all []event.Event, err error) {
	f := event.Filter{SkipReleased: true, Subject: event.Subject(*c)}
	for range maxNames {
		f.Limit = versionEvents - len(all)
		found, err := h.service.History(ctx, actor, f)
		if err != nil {
			return nil, err
		}
		next := ""
		for _, e := range found {
			all = append(all, e)
			if e.From != "" { // what came before under this name was another container
				next, f.Before = e.From, e.ID
				break
			}
		}
		if next == "" || len(all) >= versionEvents {
			break
		}
		f.Subject = event.Subject(sdk.Container{Watcher: c.Watcher, Name: next})
	}
	return all, nil
}
