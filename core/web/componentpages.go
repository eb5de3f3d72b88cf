package web

import (
	"context"
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

const (
	// tryTime is how long a page waits for the trial of a component.
	tryTime = 45 * time.Second
	// recentDeliveries is how many of a trigger its page lists.
	recentDeliveries = 5
	// recentChecks is how many beginnings and ends of checks are read to find the last of each watcher.
	recentChecks = 200
)

// componentRoutes adds the pages of one kind.
func (u *UI) componentRoutes(mux *http.ServeMux, k kind.Kind) {
	mux.HandleFunc("GET "+kindPath(k), func(w http.ResponseWriter, r *http.Request) { u.showKind(w, r, k) })
	mux.HandleFunc("GET "+kindPath(k)+"/{type}/{name}", func(w http.ResponseWriter, r *http.Request) { u.showComponent(w, r, k) })
	mux.HandleFunc("POST "+kindPath(k)+"/{type}/{name}/test", func(w http.ResponseWriter, r *http.Request) { u.testComponent(w, r, k) })
}

func (u *UI) showKind(w http.ResponseWriter, r *http.Request, k kind.Kind) {
	var checks []event.Event
	if k == kind.Watcher {
		var err error
		if checks, err = u.recentChecks(r.Context()); err != nil {
			u.broken(w, r, "read the last checks", err)
			return
		}
	}
	p := newKindPage(k, u.Setup.List(k), lastChecks(checks))
	p.checking(runningChecks(checks, u.started), u.Checks.Progress())
	u.live(w, r, "components", page{Title: p.Title, Nav: kindPath(k)[1:], Live: follows(k), Content: p})
}

// follows are the families of events that the pages of a kind follow. What
// registries allow changes with checks.
func follows(k kind.Kind) string {
	switch k {
	case kind.Watcher:
		return followsWatchers
	case kind.Registry:
		return followsRegistries
	}
	return followsTriggers
}

// recentChecks returns the latest beginnings and ends of checks, newest first.
func (u *UI) recentChecks(ctx context.Context) ([]event.Event, error) {
	return u.Archive.History(ctx, event.Filter{Types: []event.Type{event.CheckStarted, event.CheckFinished, event.CheckFailed}, Limit: recentChecks})
}

func (u *UI) lastChecks(ctx context.Context) (map[string]event.Event, error) {
	found, err := u.recentChecks(ctx)
	return lastChecks(found), err
}

// component finds the component that a path names. It answers and returns false when there is none.
func (u *UI) component(w http.ResponseWriter, r *http.Request, k kind.Kind) (Component, bool) {
	c, known := u.Setup.Get(r.Context(), k, r.PathValue("type"), r.PathValue("name"))
	if !known {
		u.sorry(w, r, http.StatusNotFound, problem{
			Title:  "There is no such " + string(k),
			Detail: "No " + string(k) + " " + r.PathValue("type") + "." + r.PathValue("name") + " is configured. It may have been renamed or removed since this page was made.",
			Back:   "To the " + kindPath(k)[1:], BackTo: kindPath(k),
		})
	}
	return c, known
}

func (u *UI) showComponent(w http.ResponseWriter, r *http.Request, k kind.Kind) {
	c, known := u.component(w, r, k)
	if !known {
		return
	}
	var last tried
	if r.URL.Query().Has("tested") {
		last = u.trials.of(c.Key(), u.Now())
	}
	u.componentAnswer(w, r, c, last.image, last.trial)
}

// testComponent tries a component and answers with what came of it, or leads to
// the page that shows it.
func (u *UI) testComponent(w http.ResponseWriter, r *http.Request, k kind.Kind) {
	if !u.form(w, r) {
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
	ctx, cancel := context.WithTimeout(r.Context(), tryTime)
	defer cancel()
	trial, known := u.Setup.Try(ctx, k, c.Type, c.Name, image)
	if !known { // gone in between
		u.component(w, r, k)
		return
	}
	view := newTrialView(c, trial)
	if partial(r) {
		u.fragment(w, r, "component", "trial", componentPage{Trial: view})
		return
	}
	u.trials.keep(c.Key(), tried{at: u.Now(), image: image, trial: view})
	http.Redirect(w, r, u.path(componentPath(c)+"?tested#trial"), http.StatusSeeOther)
}

func (u *UI) componentAnswer(w http.ResponseWriter, r *http.Request, c Component, image string, trial *trialView) {
	p := newComponentPage(c, u.Now())
	p.Image, p.Trial = image, trial
	var err error
	switch c.Kind {
	case kind.Watcher:
		var checks []event.Event
		checks, err = u.recentChecks(r.Context())
		if e, checked := lastChecks(checks)[c.Name]; checked {
			p.checked(e)
		}
		p.Running, p.Going = runningChecks(checks, u.started)[c.Name], goingOf(c.Name, u.Checks.Progress())
	case kind.Trigger:
		p.Preview = u.preview(r.Context(), c)
		var recent []delivery.Delivery
		recent, err = u.Archive.Deliveries(r.Context(), "", c.ID(), 0, recentDeliveries)
		p.Deliveries = deliveryRows(recent)
	}
	if err != nil {
		u.broken(w, r, "read what became of "+c.ID(), err)
		return
	}
	u.live(w, r, "component", page{Title: p.Title, Nav: kindPath(c.Kind)[1:], Live: follows(c.Kind), Content: p})
}

func (u *UI) preview(ctx context.Context, c Component) *preview {
	title, body, err := u.Setup.Preview(ctx, c.Type, c.Name)
	p := &preview{Title: title, Body: body}
	if err != nil {
		p.Error = u.Redact(err.Error())
	}
	return p
}
