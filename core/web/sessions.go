package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// Sessions are the people who are logged in.
type Sessions interface {
	// May reports whether a request comes from somebody who may see and end sessions.
	May(r *http.Request) bool
	// List returns the good ones, the one used last first.
	List(ctx context.Context) ([]auth.Session, error)
	// End returns an sdk.ErrNotFound when there is no such session.
	End(r *http.Request, id string) error
	// EndOthers ends all but that of the request.
	EndOthers(r *http.Request) error
}

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

// sessionsFor returns what a request may see of the sessions; nil when that is nothing.
func (u *UI) sessionsFor(r *http.Request) (*sessionsView, error) {
	if u.Sessions == nil || !u.Sessions.May(r) {
		return nil, nil
	}
	all, err := u.Sessions.List(r.Context())
	v := newSessionsView(all)
	return &v, err
}

// maySessions answers and returns false when a request may not end sessions.
func (u *UI) maySessions(w http.ResponseWriter, r *http.Request) bool {
	if u.Sessions != nil && u.Sessions.May(r) {
		return true
	}
	u.sorry(w, r, http.StatusForbidden, problem{
		Title: "Sessions are for people who are logged in", Detail: "A token cannot see or end them. Log in first.", Back: "To the settings", BackTo: "/settings",
	})
	return false
}

func (u *UI) endSession(w http.ResponseWriter, r *http.Request) {
	if !u.form(w, r) || !u.maySessions(w, r) {
		return
	}
	switch err := u.Sessions.End(r, r.PathValue("id")); {
	case errors.Is(err, sdk.ErrNotFound):
		u.sorry(w, r, http.StatusNotFound, problem{Title: "There is no such session", Detail: "It may have ended already.", Back: "To the settings", BackTo: "/settings"})
	case err != nil:
		u.broken(w, r, "end a session", err)
	default:
		http.Redirect(w, r, u.path("/settings#sessions"), http.StatusSeeOther)
	}
}

func (u *UI) endOtherSessions(w http.ResponseWriter, r *http.Request) {
	if !u.form(w, r) || !u.maySessions(w, r) {
		return
	}
	if err := u.Sessions.EndOthers(r); err != nil {
		u.broken(w, r, "end sessions", err)
		return
	}
	http.Redirect(w, r, u.path("/settings#sessions"), http.StatusSeeOther)
}
