package components

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/history"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// recentDeliveries is how many of a trigger its page lists.
const recentDeliveries = 5

// component finds the component that a path names. When there is none, it renders an error and returns false.
func (h *Handler) component(w http.ResponseWriter, r *http.Request, k kind.Kind) (service.Component, bool) {
	c, known := h.service.Component(r.Context(), h.ActorOf(r), k, r.PathValue("type"), r.PathValue("name"))
	if !known {
		h.RenderError(w, r, http.StatusNotFound, page.Problem{
			Title: wordsOf[k].unknown,
			Detail: phrase.New("%s is not configured. It may have been renamed or removed since this page was made.",
				r.PathValue("type")+"."+r.PathValue("name")),
			Back: wordsOf[k].back, BackTo: page.KindPath(k),
		})
	}
	return c, known
}

func (h *Handler) show(w http.ResponseWriter, r *http.Request, k kind.Kind) {
	c, known := h.component(w, r, k)
	if !known {
		return
	}
	var last testResult
	if r.URL.Query().Has("tested") {
		last = h.testResults.latest(c.Key(), h.Now())
	}
	h.render(w, r, c, last)
}

// render renders the page of a component, with its last test result if there is one.
func (h *Handler) render(w http.ResponseWriter, r *http.Request, c service.Component, last testResult) {
	known, err := h.evidence(r.Context(), h.ActorOf(r), c.Kind)
	p := newComponentPage(c, known.stateOf(c), h.Now())
	p.Image, p.Test = last.image, last.view
	if c.Kind == kind.Trigger && err == nil {
		p.Preview = h.previewOf(r.Context(), c)
		var recent []delivery.Delivery
		recent, err = h.service.Deliveries(r.Context(), store.DeliveryFilter{Trigger: c.ID, Limit: recentDeliveries})
		p.Deliveries = history.DeliveryRows(recent, h.Names())
		for i := range p.Deliveries {
			row := &p.Deliveries[i]
			if row.Own = true; recent[i].Error == cmp.Or(p.Unsent, c.Error) {
				row.Error = "" // it stands above
			}
		}
		history.AddSteps(p.Deliveries, h.service.DeliveryProgress())
	}
	if err != nil {
		h.InternalError(w, r, "read what became of "+c.ID, err)
		return
	}
	h.Live(w, r, "component", page.Page{
		Title: phrase.Verbatim(p.Title), Nav: page.KindPath(c.Kind)[1:], Live: follows(c.Kind), Content: p,
	})
}

func (h *Handler) previewOf(ctx context.Context, c service.Component) *preview {
	message, err := h.service.Preview(ctx, c.Type, c.Name)
	p := &preview{Title: message.Title, Body: message.Body}
	if err != nil {
		p.Error = err.Error()
	}
	return p
}

// componentPage is one component.
type componentPage struct {
	service.Component
	state
	Title string
	Path  string
	// List is the path of all of its kind.
	List string
	// Given are the options that are written, and those that are missing, from where they belong.
	Given    []service.Setting
	Defaults []service.Setting
	// Snippet makes the same component; nil where what was written makes none.
	Snippet *service.Snippet
	Limits  []limitRow
	Budgets []budgetRow
	// Preview is what a trigger would say.
	Preview    *preview
	Deliveries []history.DeliveryRow
	// HistoryQuery selects its events on the page of the history.
	HistoryQuery string
	// Mode is how a trigger puts containers together: simple or batch.
	Mode string
	// Image is what a registry was tested with last, Test what came of a test.
	Image string
	Test  *testView
}

type preview struct{ Title, Body, Error string }

func newComponentPage(c service.Component, s state, now time.Time) componentPage {
	p := componentPage{
		Component: c, state: s, Title: c.Label(), Path: page.ComponentPath(c), List: page.KindPath(c.Kind),
	}
	for _, s := range c.Settings {
		if s.Missing() {
			s.Source = "env " + config.ShortEnvName(c.Key()+"."+s.Name)
		}
		if s.Given() {
			p.Given = append(p.Given, s)
		} else {
			p.Defaults = append(p.Defaults, s)
		}
	}
	if !slices.ContainsFunc(p.Given, func(s service.Setting) bool { return s.Missing() || s.Refused() }) {
		snippet := c.Snippet()
		p.Snippet = &snippet
	}
	p.Mode = valueOf(c, "mode")
	switch c.Kind {
	case kind.Watcher:
		p.HistoryQuery = "?" + url.Values{"watcher": {c.Name}}.Encode()
	case kind.Trigger:
		p.HistoryQuery = "?" + url.Values{"trigger": {c.ID}}.Encode()
	}
	for _, l := range c.Limits {
		p.Limits = append(p.Limits, NewLimitRow(l, now))
	}
	for _, f := range c.Budgets {
		p.Budgets = append(p.Budgets, newBudgetRow(f, now))
	}
	return p
}
