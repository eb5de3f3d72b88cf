package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/history"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

const (
	// maxTestTime is how long a page waits for the test of a component.
	maxTestTime = 45 * time.Second
	// recentDeliveries is how many of a trigger its page lists.
	recentDeliveries = 5
)

// componentRoutes adds the pages of one kind.
func (u *UI) componentRoutes(mux *http.ServeMux, k kind.Kind) {
	mux.HandleFunc("GET "+page.KindPath(k), func(w http.ResponseWriter, r *http.Request) { u.showKind(w, r, k) })
	mux.HandleFunc("GET "+page.KindPath(k)+"/{type}/{name}", func(w http.ResponseWriter, r *http.Request) {
		u.showComponent(w, r, k)
	})
	mux.HandleFunc("POST "+page.KindPath(k)+"/{type}/{name}/test", func(w http.ResponseWriter, r *http.Request) {
		u.testComponent(w, r, k)
	})
}

func (u *UI) showKind(w http.ResponseWriter, r *http.Request, k kind.Kind) {
	actor := u.ActorOf(r)
	var checks []event.Event
	if k == kind.Watcher {
		var err error
		if checks, err = u.guide.RecentChecks(r.Context(), actor); err != nil {
			u.InternalError(w, r, "read the last checks", err)
			return
		}
	}
	p := newKindPage(k, u.Service.ComponentsWithSettings(actor, k), guide.LastChecks(checks))
	p.Empty = u.guide.Empty(r.Context(), actor, len(p.Rows))
	if k == kind.Trigger && p.Empty != nil {
		p.First = guide.FirstTrigger()
		p.First.Whole = true
		if g := p.Empty.Guide; g != nil && g.Title == p.First.Title {
			p.Empty.Guide = nil // it is the same
		}
	}
	p.checking(guide.RunningChecks(checks, u.Started), u.Service.Progress())
	u.Live(w, r, "components", page.Page{Title: p.Title, Nav: page.KindPath(k)[1:], Live: follows(k), Content: p})
}

// follows are the families of events that the pages of a kind follow. What
// registries allow changes with checks.
func follows(k kind.Kind) string {
	switch k {
	case kind.Watcher:
		return page.FollowsWatchers
	case kind.Registry:
		return page.FollowsRegistries
	}
	return page.FollowsTriggers
}

// component finds the component that a path names. When there is none, it renders an error and returns false.
func (u *UI) component(w http.ResponseWriter, r *http.Request, k kind.Kind) (service.Component, bool) {
	c, known := u.Service.Component(r.Context(), u.ActorOf(r), k, r.PathValue("type"), r.PathValue("name"))
	if !known {
		u.RenderError(w, r, http.StatusNotFound, page.Problem{
			Title: "There is no such " + string(k),
			Detail: "No " + string(k) + " " + r.PathValue("type") + "." + r.PathValue("name") +
				" is configured. It may have been renamed or removed since this page was made.",
			Back: "To the " + page.KindPath(k)[1:], BackTo: page.KindPath(k),
		})
	}
	return c, known
}

func (u *UI) showComponent(w http.ResponseWriter, r *http.Request, k kind.Kind) {
	c, known := u.component(w, r, k)
	if !known {
		return
	}
	var last testResult
	if r.URL.Query().Has("tested") {
		last = u.testResults.of(c.Key(), u.Now())
	}
	u.renderComponent(w, r, c, last)
}

// testComponent runs a test of a component and renders the result, or redirects to
// the page that shows it.
func (u *UI) testComponent(w http.ResponseWriter, r *http.Request, k kind.Kind) {
	if !u.Form(w, r) {
		return
	}
	c, known := u.component(w, r, k)
	if !known {
		return
	}
	image := ""
	if k == kind.Registry {
		image = r.PostFormValue("image")
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxTestTime)
	defer cancel()
	result, err := u.Service.Test(ctx, u.ActorOf(r), k, c.Type, c.Name, image)
	if errors.Is(err, service.ErrNotFound) { // removed in between
		u.component(w, r, k)
		return
	}
	view := newTestView(c, result, err)
	if page.Partial(r) {
		u.Fragment(w, r, "component", "test-result", componentPage{Test: view})
		return
	}
	u.testResults.keep(c.Key(), testResult{at: u.Now(), image: image, view: view})
	http.Redirect(w, r, u.Path(page.ComponentPath(c)+"?tested#test-result"), http.StatusSeeOther)
}

// renderComponent renders the page of a component, with its last test result if there is one.
func (u *UI) renderComponent(w http.ResponseWriter, r *http.Request, c service.Component, last testResult) {
	p := newComponentPage(c, u.Now())
	p.Image, p.Test = last.image, last.view
	var err error
	switch c.Kind {
	case kind.Watcher:
		var checks []event.Event
		checks, err = u.guide.RecentChecks(r.Context(), u.ActorOf(r))
		if e, checked := guide.LastChecks(checks)[c.Name]; checked {
			p.checked(e)
		}
		p.Running, p.Going = guide.RunningChecks(checks, u.Started)[c.Name], words.CheckProgressOf(c.Name,
			u.Service.Progress())
	case kind.Trigger:
		p.Preview = u.preview(r.Context(), c)
		var recent []delivery.Delivery
		recent, err = u.Service.Deliveries(r.Context(), store.DeliveryFilter{Trigger: c.ID, Limit: recentDeliveries})
		p.Deliveries = history.DeliveryRows(recent)
		history.AddSteps(p.Deliveries, u.Service.DeliveryProgress())
	}
	if err != nil {
		u.InternalError(w, r, "read what became of "+c.ID, err)
		return
	}
	u.Live(w, r, "component", page.Page{Title: p.Title, Nav: page.KindPath(c.Kind)[1:], Live: follows(c.Kind), Content: p})
}

func (u *UI) preview(ctx context.Context, c service.Component) *preview {
	message, err := u.Service.Preview(ctx, c.Type, c.Name)
	p := &preview{Title: message.Title, Body: message.Body}
	if err != nil {
		p.Error = err.Error()
	}
	return p
}
