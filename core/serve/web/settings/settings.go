package settings

import (
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/components"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/plugins"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// settingsPage shows the program and how it is set up.
type settingsPage struct {
	service.About
	// Query is what is searched for, Groups are the settings that have it: those that are set, and the others.
	Query  string
	Groups []settingGroup
	// CommandLine is whether the command line sets any.
	CommandLine bool
	Log         logView
	// Counts are the components, for small screens, whose navigation has no room for them.
	Counts []navCount
	Tokens *tokensView
	// Links is nil where messages have none.
	Links *linksView
	// Sessions is nil for a user who may not see them.
	Sessions *sessionsView
}

// settingGroup is some of the settings.
type settingGroup struct {
	Name     phrase.Phrase
	Settings []service.Setting
}

// navCount leads to a list.
type navCount struct {
	Label    phrase.Phrase
	Path     string
	Sentence phrase.Phrase
	// Failing is whether any of them has failed.
	Failing bool
}

func newSettingsPage(in *language.Language, a service.About, counts []navCount, query string) settingsPage {
	p := settingsPage{About: a, Counts: counts, Query: query}
	set, others := settingGroup{Name: phrase.New("Changed from the default")},
		settingGroup{Name: phrase.New("Default values")}
	for _, s := range a.Settings {
		p.CommandLine = p.CommandLine || s.Source == "command line"
		switch {
		case !strings.Contains(strings.ToLower(s.Name+" "+s.Value+" "+in.Text(s.Help)), strings.ToLower(query)):
		case s.Given():
			set.Settings = append(set.Settings, s)
		default:
			others.Settings = append(others.Settings, s)
		}
	}
	for _, g := range []settingGroup{set, others} {
		if len(g.Settings) > 0 {
			p.Groups = append(p.Groups, g)
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
	pending, err := h.service.Deliveries(r.Context(), store.DeliveryFilter{State: delivery.Pending})
	if err != nil {
		h.InternalError(w, r, "read what is to be sent", err)
		return
	}
	for _, k := range kind.Kinds() {
		all := h.service.Components(actor, k)
		summary, failing := components.Summary(k, all, h.service.Containers().All(), pending, h.service.Redact)
		counts = append(counts, navCount{phrase.New(page.KindTitles[k]), page.KindPath(k), summary, failing})
	}
	var n tally.Counts
	for _, c := range h.service.Containers().All() {
		n.Add(&c.Container)
	}
	updates := phrase.New("%d updates held", n.Held)
	if n.Held == 1 {
		updates = phrase.New("1 update held")
	}
	if guide.Unlisted(n, h.service.Components(actor, kind.Watcher)) {
		updates = phrase.New("Your containers cannot be listed")
	}
	summary, failing := plugins.Summary(h.service.Plugins())
	counts = append(counts, navCount{phrase.New("Policies"), "/policies", updates, false},
		navCount{phrase.New("Plugins"), "/plugins", summary, failing})
	p := newSettingsPage(h.Languages.Of(r), h.service.About(), counts, strings.TrimSpace(r.URL.Query().Get("q")))
	p.Log = logOf(h.service.LogLevel(), p.Settings)
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
	h.Show(w, r, status, "settings", page.Page{Title: phrase.New("Settings"), Nav: "settings", Content: p})
}
