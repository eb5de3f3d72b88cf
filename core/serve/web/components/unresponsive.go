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

// registryUse is how containers use registries.
type registryUse struct {
	// used are the ids of registries that have images of containers; nil where that is not known.
	used map[string]bool
	// unresponsive are the registries, by id, that answered the last check of none of their containers, for a reason
	// that is not that of one image.
	unresponsive map[string]*unresponsive
}

func registryUseOf(records []*store.Record, redact func(string) string) registryUse {
	use, answers := registryUse{map[string]bool{}, map[string]*unresponsive{}}, map[string]bool{}
	for _, rec := range records {
		c := &rec.Container
		id := c.Image.Registry.Name
		use.used[id] = true
		found := use.unresponsive[id]
		switch {
		case id == "" || c.Check.State == sdk.CheckNever || c.Check.Postponed():
			continue
		case c.Check.State != sdk.CheckFailed || c.Error == nil || c.Error.Cause == "":
			answers[id] = true
			continue
		case found == nil:
			found = &unresponsive{Why: words.FailureOf(c.Error.Cause, redact(c.Error.Message))}
			use.unresponsive[id] = found
		}
		found.Of++
		if rec.CheckedAt.After(found.Asked) {
			found.Asked = rec.CheckedAt
		}
	}
	for id := range answers {
		delete(use.unresponsive, id)
	}
	return use
}
