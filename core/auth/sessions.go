package auth

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
)

// Session is somebody who is logged in.
type Session struct {
	// ID stands for it. It is the beginning of its hash, which lets nobody in.
	ID string
	// Method is the way in which the user logged in, such as "basic.ana".
	User, Method string
	// Used is when it was used last, to within five minutes.
	Created, Used, Expires time.Time
	// Own is whether it is the one that asks.
	Own bool
}

// sessionID returns 16 characters that tell a session from the others.
func sessionID(hash []byte) string { return hex.EncodeToString(hash[:8]) }

// Sessions returns the sessions that are good, the one used last first. who asks for them.
func (a *Auth) Sessions(ctx context.Context, who Identity) ([]Session, error) {
	stored, err := a.good(ctx)
	list := []Session{}
	for _, s := range stored {
		list = append(list, Session{
			ID: sessionID(s.Hash), User: s.User, Method: s.Provider, Created: s.Created, Used: s.Used, Expires: s.Expires, Own: bytes.Equal(s.Hash, who.session),
		})
	}
	return list, err
}

func (a *Auth) good(ctx context.Context) ([]store.Session, error) {
	all, err := a.opt.Store.Sessions(ctx)
	var good []store.Session
	for _, s := range all {
		if a.counts(s) {
			good = append(good, s)
		}
	}
	return good, err
}

// EndSession ends somebody's session, for the user of a request. The error
// wraps store.ErrNotFound when there is none of that id.
func (a *Auth) EndSession(r *http.Request, id string) error {
	all, err := a.good(r.Context())
	if err != nil {
		return err
	}
	for _, s := range all {
		if sessionID(s.Hash) == id {
			return a.endOf(r, s)
		}
	}
	return fmt.Errorf("session %.20q: %w", id, store.ErrNotFound)
}

// EndOthers ends all sessions but that of a request.
func (a *Auth) EndOthers(r *http.Request) error {
	own := From(r.Context()).session
	all, err := a.good(r.Context())
	if err != nil {
		return err
	}
	for _, s := range all {
		if bytes.Equal(s.Hash, own) {
			continue
		}
		if err := a.endOf(r, s); err != nil {
			return err
		}
	}
	return nil
}

func (a *Auth) endOf(r *http.Request, s store.Session) error {
	if err := a.opt.Store.EndSession(r.Context(), s.Hash); err != nil {
		return err
	}
	a.record(r, event.LoggedOut, s.User, event.Login{Method: s.Provider, By: From(r.Context()).User})
	return nil
}
