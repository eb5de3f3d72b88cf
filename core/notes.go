package core

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/notes"
	"github.com/dogwatch/dogwatch/core/service"
	"github.com/dogwatch/dogwatch/core/wiring"
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
		Allowed: allowed, Forges: forges, Tokens: tokens,
		Cache: wiring.Cache{Store: a.store, Log: a.log}, Log: a.opt.Log.Named("notes"), Now: a.opt.Now,
	})
}
