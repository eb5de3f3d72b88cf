package settings

import (
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/components"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/plugins"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// settingsPage shows the program and how it is set up.
type settingsPage struct {
	service.About
	Groups []settingGroup
	Log    logView
	// Counts are the components, for small screens, whose navigation has no room for them.
	Counts []navCount
	Tokens *tokensView
	// Links is nil where messages have none.
	Links *linksView
	// Sessions is nil for a user who may not see them.
	Sessions *sessionsView
}

// settingGroup is the settings of a section.
type settingGroup struct {
	Name     string
	Settings []service.Setting
	// Given is how many of them are configured.
	Given int
}

// navCount leads to a list.
type navCount struct{ Label, Path, Sentence string }

func newSettingsPage(a service.About, counts []navCount) settingsPage {
	p := settingsPage{About: a, Counts: counts}
	for _, s := range a.Settings {
		section, _, _ := strings.Cut(s.Name, ".")
		if len(p.Groups) == 0 || p.Groups[len(p.Groups)-1].Name != section {
			p.Groups = append(p.Groups, settingGroup{Name: section})
		}
		g := &p.Groups[len(p.Groups)-1]
		g.Settings = append(g.Settings, s)
		if s.Given() {
			g.Given++
		}
	}
	return p
}

func (h *Handler) show(w http.ResponseWriter, r *http.Request) {
	h.render(w, r, http.StatusOK, func(*tokensView) {})
}

// render renders the page; with completes what it says of tokens.
func (h *Handler) render(w http.ResponseWriter, r *http.Request, status int, with func(*tokensView)) {
	actor := h.ActorOf(r)
	var counts []navCount
	for _, k := range kind.Kinds() {
		all := h.service.Components(actor, k)
		counts = append(counts, navCount{page.KindTitles[k], page.KindPath(k), components.Summary(k, all)})
	}
	counts = append(counts, navCount{"Plugins", "/plugins", plugins.Summary(h.service.Plugins())})
	p := newSettingsPage(h.service.About(), counts)
	p.Log = logOf(h.service.LogLevel(), p.Settings)
	var err error
	if p.Tokens, err = h.tokensFor(r.Context(), actor); err != nil {
		h.InternalError(w, r, "read the tokens", err)
		return
	}
	with(p.Tokens)
	if p.Sessions, err = h.sessionsFor(r.Context(), actor); err != nil {
		h.InternalError(w, r, "read the sessions", err)
		return
	}
	p.Links = h.linksFor(r)
	h.Show(w, r, status, "settings", page.Page{Title: "Settings", Nav: "settings", Content: p})
}
