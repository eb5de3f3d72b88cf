package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// sessionsView is the part of the settings page about sessions.
type sessionsView struct {
	Rows []auth.Session
	// Others is how many there are besides the own one.
	Others int
}

func newSessionsView(all []auth.Session) sessionsView {
	v := sessionsView{Rows: all}
	for _, s := range all {
		if !s.Own {
			v.Others++
		}
	}
	return v
}

// sessionsFor returns what an actor may see of the sessions; nil when that is nothing.
func (u *UI) sessionsFor(ctx context.Context, actor auth.Actor) (*sessionsView, error) {
	all, err := u.Service.Sessions(ctx, actor)
	if errors.Is(err, service.ErrForbidden) {
		return nil, nil
	}
	v := newSessionsView(all)
	return &v, err
}

func (u *UI) endSession(w http.ResponseWriter, r *http.Request) {
	if !u.Form(w, r) {
		return
	}
	u.sessionsEnded(w, r, u.Service.EndSession(r.Context(), u.ActorOf(r), r.PathValue("id")))
}

func (u *UI) endOtherSessions(w http.ResponseWriter, r *http.Request) {
	if !u.Form(w, r) {
		return
	}
	u.sessionsEnded(w, r, u.Service.EndOtherSessions(r.Context(), u.ActorOf(r)))
}

// sessionsEnded leads back to the settings, or renders the error.
func (u *UI) sessionsEnded(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, service.ErrForbidden):
		u.RenderError(w, r, http.StatusForbidden, page.Problem{
			Title: "Sessions are for people who are logged in", Detail: "A token cannot see or end them. Log in first.",
			Back: "To the settings", BackTo: "/settings",
		})
	case errors.Is(err, service.ErrNotFound):
		u.RenderError(w, r, http.StatusNotFound, page.Problem{
			Title: "There is no such session", Detail: "It may have ended already.", Back: "To the settings",
			BackTo: "/settings",
		})
	case err != nil:
		u.InternalError(w, r, "end a session", err)
	default:
		http.Redirect(w, r, u.Path("/settings#sessions"), http.StatusSeeOther)
	}
}
