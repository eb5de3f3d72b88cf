package overview

import (
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/watch/check"
)

// watcherLine is when a watcher was and will be checked.
type watcherLine struct {
	Name       string
	Last, Next time.Time
	Running    bool
	Progress   check.Progress
	Words      phrase.Phrase
	Bad        bool
}

// watchersOf says how the last check of each watcher went, from events, newest
// first; started is when this process did.
func watchersOf(
	watchers []service.Component, events []event.Event, started time.Time, progress []check.Progress,
	next func(string) time.Time,
) []watcherLine {
	var lines []watcherLine
	for _, w := range watchers {
		name := w.Name
		l := watcherLine{Name: name, Next: next(name), Progress: words.ProgressOf(name, progress), Words: phrase.New("not checked yet")}
		for _, e := range events {
			if e.Check == nil || e.Check.Watcher != name || e.Check.Single {
				continue
			}
			if e.Type == event.CheckStarted {
				l.Running = e.At.After(started) // an earlier process may have been killed during a check
				continue
			}
			l.Last, l.Words = e.At, phrase.Count(e.Check.Containers, "container")
			if shared := words.SharedEngine(*e.Check); shared != nil {
				l.Words = phrase.Join(", ", l.Words, shared)
			}
			if e.Type == event.CheckFailed {
				l.Words, l.Bad = words.Down(), true
			}
			break
		}
		lines = append(lines, l)
	}
	return lines
}
