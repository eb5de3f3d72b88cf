package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
)

const (
	// A session ends after a week without use, or after a day if it is not to outlive
	// the browser, as a server does not learn when a browser is closed. It ends after
	// 90 days in any case.
	idleTime       = 7 * 24 * time.Hour
	unkeptTime     = 24 * time.Hour
	maxSessionTime = 90 * 24 * time.Hour
)

// newSecret returns 256 random bits as 43 characters.
func newSecret() string {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(bits[:])
}

func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// bySession identifies the caller by the session cookie, and extends the session.
func (a *Auth) bySession(w http.ResponseWriter, r *http.Request) (Identity, error) {
	s, cookie, err := a.sessionOf(r)
	if err != nil || cookie == nil {
		return Identity{}, err
	}
	if a.now().Sub(s.Used) >= recordUse {
		if err := a.extendSession(w, r, s, cookie.Value); err != nil {
			a.log.Warn("extend a session", "user", s.User, "error", err)
		}
	}
	return Identity{User: s.User, Method: s.Provider, Scope: Manage, session: s.Hash}, nil
}

// sessionOf returns the session of a request and its cookie; no cookie when there
// is none. Cookies of the same name that belong to other programs on the host are
// passed over and left alone.
func (a *Auth) sessionOf(r *http.Request) (store.Session, *http.Cookie, error) {
	for _, cookie := range a.cookies(r, sessionCookie) {
		s, err := a.storedSession(r.Context(), hashOf(cookie.Value))
		if !errors.Is(err, store.ErrNotFound) {
			return s, cookie, err
		}
	}
	return store.Session{}, nil, nil
}

// extendSession notes that a session is in use, which moves its end.
func (a *Auth) extendSession(w http.ResponseWriter, r *http.Request, s store.Session, secret string) error {
	s.Used = a.now()
	s.Expires = a.sessionExpiry(s)
	if err := a.opt.Store.UseSession(r.Context(), s); err != nil {
		return err
	}
	a.setSessionCookie(w, r, s, secret)
	return nil
}

// sessionExpiry returns when a session ends if it is not used again.
func (a *Auth) sessionExpiry(s store.Session) time.Time {
	end := s.Used.Add(idleTime)
	if !s.Kept {
		end = s.Used.Add(unkeptTime)
	}
	i := slices.IndexFunc(a.methods, func(m Method) bool { return m.ID() == s.Provider }) // it has one, or would be over
	if latest := s.Created.Add(a.methods[i].maxAge); end.After(latest) {
		return latest
	}
	return end
}

// setSessionCookie sets the session cookie: for as long as the session lasts, or
// until the browser is closed.
func (a *Auth) setSessionCookie(w http.ResponseWriter, r *http.Request, s store.Session, secret string) {
	var age time.Duration
	if s.Kept {
		age = s.Expires.Sub(a.now())
	}
	a.setCookie(w, r, a.cookieName(r, sessionCookie), secret, age)
}

// storedSession returns a session that is still good: neither expired nor made under
// settings of its provider that have been changed since.
func (a *Auth) storedSession(ctx context.Context, hash []byte) (store.Session, error) {
	s, err := a.opt.Store.Session(ctx, hash)
	if err != nil {
		return s, err
	}
	if !a.sessionValid(s) {
		return s, store.ErrNotFound
	}
	return s, nil
}

func (a *Auth) sessionValid(s store.Session) bool {
	return a.now().Before(s.Expires) && slices.ContainsFunc(a.methods, func(m Method) bool {
		return m.ID() == s.Provider && m.stamp != nil && bytes.Equal(m.stamp, s.Stamp)
	})
}

// Current reports whether the session or token of an identity is still valid; true
// when the store fails. A stream checks it, as it outlives the check of its request.
func (a *Auth) Current(ctx context.Context, caller Identity) bool {
	var err error
	switch {
	case caller.session != nil:
		_, err = a.storedSession(ctx, caller.session)
	case caller.token != nil:
		_, err = a.storedToken(ctx, caller.token)
	}
	return !errors.Is(err, store.ErrNotFound) && !errors.Is(err, ErrBadToken)
}

// startSession creates a session for a user who has just logged in, with a new id,
// and sets its cookie. The session that the browser had, if any, ends: its id may
// be known to others, as in a session fixation attack. keep is whether the new
// session outlives the browser.
func (a *Auth) startSession(w http.ResponseWriter, r *http.Request, caller Identity, keep bool) (Identity, error) {
	for _, old := range a.cookies(r, sessionCookie) {
		if err := a.opt.Store.EndSession(r.Context(), hashOf(old.Value)); err != nil {
			return Identity{}, err
		}
	}
	i := slices.IndexFunc(a.methods, func(m Method) bool { return m.ID() == caller.Method })
	secret, now := newSecret(), a.now()
	s := store.Session{
		Hash: hashOf(secret), User: caller.User, Provider: caller.Method, Stamp: a.methods[i].stamp, Created: now,
		Used: now, Kept: keep,
	}
	s.Expires = a.sessionExpiry(s)
	if err := a.opt.Store.AddSession(r.Context(), s); err != nil {
		return Identity{}, err
	}
	a.setSessionCookie(w, r, s, secret)
	if len(a.cookies(r, keepCookie)) > 0 {
		a.setCookie(w, r, a.cookieName(r, keepCookie), "", -1)
	}
	a.auditRequest(r, event.LoginSucceeded, caller.User, event.Login{Method: caller.Method})
	caller.session = s.Hash
	return caller, nil
}

// Keep reports whether the next session outlives the browser: what Remember set
// before the login, else true.
func (a *Auth) Keep(r *http.Request) bool {
	set := a.cookies(r, keepCookie)
	return len(set) == 0 || set[0].Value != "0"
}

// Remember sets whether the session of a request outlives the browser, or without
// a session that of the next login. It sets a cookie.
func (a *Auth) Remember(w http.ResponseWriter, r *http.Request, keep bool) error {
	s, cookie, err := a.sessionOf(r)
	if err != nil {
		return err
	}
	if cookie == nil {
		value := "0"
		if keep {
			value = "1"
		}
		a.setCookie(w, r, a.cookieName(r, keepCookie), value, flowTime)
		return nil
	}
	s.Kept = keep
	return a.extendSession(w, r, s, cookie.Value)
}

// Logout ends the session of a request, if it has one, deletes the session cookie,
// and returns where to log out of the provider; "" when there is no such address.
func (a *Auth) Logout(w http.ResponseWriter, r *http.Request) (elsewhere string, err error) {
	s, cookie, err := a.sessionOf(r)
	if err != nil || cookie == nil {
		return "", err
	}
	if err := a.opt.Store.EndSession(r.Context(), s.Hash); err != nil {
		return "", err
	}
	a.setCookie(w, r, cookie.Name, "", -1)
	a.auditRequest(r, event.LoggedOut, s.User, event.Login{Method: s.Provider})
	for name, p := range a.providers {
		if s.Provider == "oidc."+name {
			return p.logoutFrom(r.Context(), a.publicURL(r)), nil
		}
	}
	return "", nil
}

// Session is a session of a user who is logged in.
type Session struct {
	// ID identifies the session. It is the beginning of its hash, and no credential.
	ID string
	// Method is the way in which the user logged in, such as "basic.ana".
	User, Method string
	// Used is when it was used last, to within five minutes.
	Created, Used, Expires time.Time
	// Own is whether it is the session of the caller.
	Own bool
}

// sessionID returns 16 characters that identify a session.
func sessionID(hash []byte) string { return hex.EncodeToString(hash[:8]) }

// Sessions returns the valid sessions, the one used last first, for an actor.
func (a *Auth) Sessions(ctx context.Context, actor Actor) ([]Session, error) {
	stored, err := a.validSessions(ctx)
	list := []Session{}
	for _, s := range stored {
		list = append(list, Session{
			ID: sessionID(s.Hash), User: s.User, Method: s.Provider, Created: s.Created, Used: s.Used,
			Expires: s.Expires, Own: bytes.Equal(s.Hash, actor.session),
		})
	}
	return list, err
}

func (a *Auth) validSessions(ctx context.Context) ([]store.Session, error) {
	all, err := a.opt.Store.Sessions(ctx)
	var valid []store.Session
	for _, s := range all {
		if a.sessionValid(s) {
			valid = append(valid, s)
		}
	}
	return valid, err
}

// EndSession ends a session, of any user, on behalf of an actor. The error wraps
// store.ErrNotFound when there is none of that id.
func (a *Auth) EndSession(ctx context.Context, actor Actor, id string) error {
	all, err := a.validSessions(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if sessionID(s.Hash) == id {
			return a.endSession(ctx, actor, s)
		}
	}
	return fmt.Errorf("session %.20q: %w", id, store.ErrNotFound)
}

// EndOthers ends all sessions but the actor's own.
func (a *Auth) EndOthers(ctx context.Context, actor Actor) error {
	all, err := a.validSessions(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if bytes.Equal(s.Hash, actor.session) {
			continue
		}
		if err := a.endSession(ctx, actor, s); err != nil {
			return err
		}
	}
	return nil
}

func (a *Auth) endSession(ctx context.Context, actor Actor, s store.Session) error {
	if err := a.opt.Store.EndSession(ctx, s.Hash); err != nil {
		return err
	}
	a.audit(ctx, event.LoggedOut, s.User, event.Login{
		Method: s.Provider, By: actor.User, Address: actor.ClientAddress(),
	})
	return nil
}
