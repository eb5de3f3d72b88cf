package settings

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
)

// sessionsView is the part of the settings page about sessions.
type sessionsView struct {
	Rows []sessionRow
	// Others is how many there are besides the own one.
	Others int
}

// sessionRow is a session.
type sessionRow struct{ auth.Session }

// Way is how its user logged in.
func (s sessionRow) Way() phrase.Phrase {
	switch typ, _, _ := strings.Cut(s.Method, "."); typ {
	case "basic":
		return phrase.New("password")
	case "oidc":
		return phrase.New("single sign-on")
	}
	return phrase.Verbatim(s.Method)
}

func newSessionsView(all []auth.Session) (v sessionsView) {
	for _, s := range all {
		v.Rows = append(v.Rows, sessionRow{s})
		if !s.Own {
			v.Others++
		}
	}
	return v
}

// sessionsFor returns what an actor may see of the sessions; nil when that is nothing.
func (h *Handler) sessionsFor(ctx context.Context, actor auth.Actor) (*sessionsView, error) {
	all, err := h.service.Sessions(ctx, actor)
	if errors.Is(err, service.ErrForbidden) {
		return nil, nil
	}
	v := newSessionsView(all)
	return &v, err
}

func (h *Handler) endSession(w http.ResponseWriter, r *http.Request) {
	h.sessionsEnded(w, r, h.service.EndSession(r.Context(), h.ActorOf(r), r.PathValue("id")))
}

func (h *Handler) endOtherSessions(w http.ResponseWriter, r *http.Request) {
	h.sessionsEnded(w, r, h.service.EndOtherSessions(r.Context(), h.ActorOf(r)))
}

// sessionsEnded leads back to the settings, or renders the error.
func (h *Handler) sessionsEnded(w http.ResponseWriter, r *http.Request, err error) {
	h.Finish(w, r, err, "end a session", "/settings#sessions",
		problem(service.ErrForbidden, phrase.New("Sessions are for people who are logged in"),
			phrase.New("A token cannot see or end them. Log in first.")),
		problem(service.ErrNotFound, phrase.New("There is no such session"), phrase.New("It may have ended already.")))
}
