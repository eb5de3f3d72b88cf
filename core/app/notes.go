package app

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
)

// makeNotes returns the reader of release notes, simulated in the demo.
func (a *App) makeNotes() service.Notes {
	settings := a.opt.Config.Notes
	switch {
	case !settings.Enabled:
		return notes.None{}
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
		Allowed: allowed,
		Forges:  forges,
		Tokens:  tokens,
		Known:   a.knownNotes,
		Cache:   a.cache(),
		Agent:   a.opt.UserAgent(),
		Log:     a.opt.Log.Named("notes"),
		Now:     a.opt.Now,
	})
}

// knownNotes returns the address of the repository with the release notes of an image of a preset; "" for others.
func (a *App) knownNotes(c *sdk.Container) string {
	if known := a.layers().Preset(*c); known != nil {
		return known.Notes
	}
	return ""
}

// wantForPages has fetched what pages say of a container beside what checks find out. It returns at once.
func (a *App) wantForPages(c *sdk.Container) {
	a.dates.Want(c)
	a.prefetcher.Want(c)
}
