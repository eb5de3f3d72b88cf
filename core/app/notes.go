package app

import (
	"context"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
)

// releaseNotes returns the reader of release notes, simulated in the demo; nil when they are switched off.
func (a *App) releaseNotes() service.Notes {
	settings := a.opt.Config.Notes
	switch {
	case !settings.Enabled:
		return nil
	case a.opt.Demo:
		return notes.Simulated{}
	}
	forges := map[string]notes.Forge{}
	var allowed []string
	for _, entry := range settings.Allow {
		host, forge, named := strings.Cut(strings.ToLower(entry), "=")
		allowed = append(allowed, host)
		if named {
			forges[host] = notes.Forge(forge)
		}
	}
	tokens := settings.HostTokens()
	for _, token := range tokens {
		a.opt.Redactor.Add(token)
	}
	return notes.New(notes.Options{
		Allowed: allowed, Forges: forges, Tokens: tokens, Known: a.knownNotes,
		Cache: wiring.Cache{Store: a.store, Log: a.log}, Log: a.opt.Log.Named("notes"), Now: a.opt.Now,
	})
}

// knownNotes returns the address of the repository with the release notes of an image of a preset; "" for others.
func (a *App) knownNotes(c *sdk.Container) string {
	if known := a.layers().Preset(*c); known != nil {
		return known.Notes
	}
	return ""
}

// noteExcerpts returns what makes excerpts of release notes for messages; nil when they are
// switched off. What it needs is made when the first message wants them.
func (a *App) noteExcerpts() func(ctx context.Context, c *sdk.Container) string {
	if a.notes == nil {
		return nil
	}
	renderer := sync.OnceValue(notes.NewRenderer)
	return func(ctx context.Context, c *sdk.Container) string {
		return renderer().Excerpt(a.notes.Of(ctx, c))
	}
}
