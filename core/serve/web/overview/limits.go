package overview

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/components"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// limits are sentences about what registries allow, as far as they answer in time.
func (h *Handler) limits(ctx context.Context, actor auth.Actor) []phrase.Phrase {
	ctx, cancel := context.WithTimeout(ctx, limitWait)
	defer cancel()
	registries := h.service.Registries(ctx, actor)
	return append(limitsOf(registries, h.Now()), budgetsOf(registries)...)
}

// budgetsOf are sentences about budgets that are too small for the next checks, or used up.
func budgetsOf(registries []service.Component) []phrase.Phrase {
	var sentences []phrase.Phrase
	for _, r := range registries {
		for _, f := range r.Budgets {
			if f.Spreads() {
				sentences = append(sentences, phrase.Sentence(phrase.New("%s: %s", f.Host, words.Budget(f))))
			}
		}
	}
	return sentences
}

// limitsOf are sentences about what hosts of registries still allow.
func limitsOf(registries []service.Component, now time.Time) []phrase.Phrase {
	var sentences []phrase.Phrase
	for _, r := range registries {
		for _, l := range r.Limits {
			switch {
			case l.PausedUntil.After(now):
				sentences = append(sentences,
					phrase.New("%s asked for a pause; it is asked again %s.", l.Host, words.Relative(now.Sub(l.PausedUntil.Time))))
			case l.Limit > 0:
				sentences = append(sentences, phrase.Sentence(phrase.New("%s: %s", l.Host, components.NewLimitRow(l, now).Sentence)))
			}
		}
	}
	return sentences
}
