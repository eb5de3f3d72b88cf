package guide

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Counts counts all containers.
func (h *Handler) Counts() tally.Counts {
	var t tally.Counts
	for _, rec := range h.service.Containers().All() {
		t.Add(&rec.Container)
	}
	return t
}

// Empty is what a page says where its list is empty: what the overview says, and what to do next.
type Empty struct {
	Sentence phrase.Phrase
	Guide    *Guide
}

// Unlisted is whether nothing is known of containers, as their watcher fails; e may be nil.
func (e *Empty) Unlisted() bool { return e != nil && e.Guide != nil && e.Guide.Reason != "" }

// Empty returns what a page says that has the given number of rows; nil where it has some.
func (h *Handler) Empty(ctx context.Context, actor auth.Actor, rows int) *Empty {
	if rows > 0 {
		return nil
	}
	g, err := h.Guide(ctx, actor)
	if err != nil {
		h.Log.Warn("read what is missing", "error", err) // pages show all else
	}
	return &Empty{Sentence: Headline(h.Counts(), h.service.Components(actor, kind.Watcher)), Guide: g}
}

// Headline says in one line how the containers are, and whether there may be others that nobody can see.
func Headline(t tally.Counts, watchers []service.Component) phrase.Phrase {
	down := Failed(watchers)
	if Unlisted(t, watchers) {
		return phrase.New("Your containers cannot be listed")
	}
	if down > 0 {
		return words.Counts(t, phrase.Count(down, "failed watcher"))
	}
	return words.Counts(t)
}

// Unlisted is whether nothing is known of containers, as a watcher has failed.
func Unlisted(t tally.Counts, watchers []service.Component) bool {
	return t.All == 0 && Failed(watchers) > 0
}

// Failed is how many components have failed.
func Failed(all []service.Component) (n int) {
	for _, c := range all {
		if c.State == component.Failed {
			n++
		}
	}
	return n
}
