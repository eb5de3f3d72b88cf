package components

import (
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// silence is what checks know of a registry that answers none of them.
type silence struct {
	// Asked is when it was asked last.
	Asked time.Time
	// Why is what the lists of containers and the overview say of it.
	Why phrase.Phrase
	// Of is how many containers it keeps from being checked.
	Of int
}

// silentRegistries are the registries, by id, that answered the last check of none of their containers, for a reason
// that is not that of one image.
func silentRegistries(records []*store.Record, redact func(string) string) map[string]*silence {
	silent, answers := map[string]*silence{}, map[string]bool{}
	for _, rec := range records {
		c := &rec.Container
		id := c.Image.Registry.Name
		switch {
		case id == "" || c.Check.State == sdk.CheckNever || c.Check.Postponed():
			continue
		case c.Check.State != sdk.CheckFailed || c.Error == nil || c.Error.Cause == "":
			answers[id] = true
			continue
		case silent[id] == nil:
			silent[id] = &silence{Why: words.FailureOf(c.Error.Cause, redact(c.Error.Message))}
		}
		silent[id].Of++
		if rec.CheckedAt.After(silent[id].Asked) {
			silent[id].Asked = rec.CheckedAt
		}
	}
	for id := range answers {
		delete(silent, id)
	}
	return silent
}

// stateOf is the state of a registry: one that is ready does not respond where no check got an answer.
func (s *silence) stateOf(ready words.State) words.State {
	if s != nil && ready.Class == "ok" {
		return words.State{Word: phrase.New("Not responding"), Class: "failed"}
	}
	return ready
}
