package components

import (
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// lastCheck is how the last check of a watcher ended.
type lastCheck struct {
	At       time.Time
	Sentence phrase.Phrase
	Failed   bool
}

func componentState(state component.State) words.State {
	switch state {
	case component.Ready:
		return words.State{Word: phrase.New("Ready"), Class: "ok"}
	case component.Failed:
		return words.State{Word: phrase.New("Failed"), Class: "failed"}
	}
	return words.State{Word: phrase.New("Starting"), Class: "muted"}
}

// checkOf says in words how a check ended.
func checkOf(e event.Event) *lastCheck {
	last := &lastCheck{At: e.At, Failed: e.Type == event.CheckFailed}
	last.Sentence, _ = words.Event(e)
	return last
}

// stateOf is the state of a watcher: one that is ready has not reached its
// engine when its last check failed.
func (l *lastCheck) stateOf(s words.State) words.State {
	if l.Failed && s.Class == "ok" {
		return words.State{Word: phrase.New("Check failed"), Class: "failed"}
	}
	return s
}
