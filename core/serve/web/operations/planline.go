package operations

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
)

// planLine is the plan of one update, in short.
type planLine struct {
	Key, Name, Path, Href string
	From, To              phrase.Phrase
	Kind                  string
	State, Digest         string
	Warnings              []phrase.Phrase
	Dependents            []string
	// Download is a size in words; nil where it is not known or nothing.
	Download phrase.Phrase
	// Problem says why it cannot be updated from here; nil when it can.
	Problem phrase.Phrase
	// Blocks are what keeps it from being updated until the user accepts it, Codes
	// what they are called, each once.
	Blocks []phrase.Phrase
	Codes  []string
}

// planLines plans updates, a few at the same time.
func (h *Handler) planLines(r *http.Request, chosen []sdk.Container) []planLine {
	actor := h.ActorOf(r)
	lines := make([]planLine, len(chosen))
	var wait sync.WaitGroup
	slots := make(chan struct{}, find.AtOnce)
	for i := range chosen {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			lines[i] = h.planLine(r.Context(), actor, &chosen[i])
		})
	}
	wait.Wait()
	return lines
}

// planLine plans the update of one container.
func (h *Handler) planLine(ctx context.Context, actor auth.Actor, c *sdk.Container) planLine {
	l := planLine{
		Key: c.Watcher + "/" + c.Name, Name: words.Name(c), Path: page.ChangePath(operation.Update, c),
		Href: page.PathOf(c),
	}
	plan, err := h.service.Plan(ctx, actor, service.Change{Container: c.ID, Kind: operation.Update})
	switch {
	case errors.Is(err, updater.ErrNoUpdate):
		l.Problem = phrase.New("Nothing newer is known.")
		return l
	case err != nil:
		l.Problem = phrase.Sentence(words.Mistake(err.Error()))
		return l
	}
	if permission := h.service.UpdatePermission(actor, c.Watcher); !permission.Allowed {
		l.Problem = cmp.Or(forbiddenText(permission), phrase.New("It cannot be updated from here."))
	}
	l.From, l.To = words.Versions(plan.From, plan.To)
	planned := h.service.ByHand(ctx, *c)
	l.Kind = tally.Kind(&planned)
	l.State, l.Digest, l.Download = plan.State, plan.To.Digest, words.Bytes(plan.Space.Download)
	for _, b := range plan.Blocks {
		if !b.Acknowledge {
			l.Problem = phrase.Join(" ", l.Problem, phrase.Sentence(words.Planned(b.Text)))
			continue
		}
		l.Blocks = append(l.Blocks, phrase.Sentence(words.Planned(withoutCode(b))))
		if !slices.Contains(l.Codes, b.Code) {
			l.Codes = append(l.Codes, b.Code)
		}
	}
	for _, warning := range plan.Warnings {
		l.Warnings = append(l.Warnings, phrase.Sentence(words.Planned(warning.Text)))
	}
	for _, d := range plan.Dependents {
		l.Dependents = append(l.Dependents, d.Name)
	}
	return l
}
