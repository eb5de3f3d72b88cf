package components

import (
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// unresponsive is what checks know of a registry that answers none of them.
type unresponsive struct {
	// Asked is when it was asked last.
	Asked time.Time
	// Why is what the lists of containers and the overview say of it.
	Why phrase.Phrase
	// Of is how many containers it keeps from being checked.
	Of int
}

// unresponsiveRegistries are the registries, by id, that answered the last check of none of their containers, for a
// reason that is not that of one image.
func unresponsiveRegistries(records []*store.Record, redact func(string) string) map[string]*unresponsive {
	found, answers := map[string]*unresponsive{}, map[string]bool{}
	for _, rec := range records {
		c := &rec.Container
		id := c.Image.Registry.Name
		switch {
		case id == "" || c.Check.State == sdk.CheckNever || c.Check.Postponed():
			continue
		case c.Check.State != sdk.CheckFailed || c.Error == nil || c.Error.Cause == "":
			answers[id] = true
			continue
		case found[id] == nil:
			found[id] = &unresponsive{Why: words.FailureOf(c.Error.Cause, redact(c.Error.Message))}
		}
		found[id].Of++
		if rec.CheckedAt.After(found[id].Asked) {
			found[id].Asked = rec.CheckedAt
		}
	}
	for id := range answers {
		delete(found, id)
	}
	return found
}

// stateOf is the state of a registry: one that is ready does not respond where no check got an answer.
func (s *unresponsive) stateOf(ready words.State) words.State {
	if s != nil && ready.Class == "ok" {
		return words.State{Word: phrase.New("Not responding"), Class: "failed"}
	}
	return ready
}
