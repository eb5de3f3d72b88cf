package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
)

const (
	// A session ends after a week without use, or a day if it is not to outlive the
	// browser's being closed, which nobody tells us; and after 90 days in any case.
	idleTime    = 7 * 24 * time.Hour
	unkeptTime  = 24 * time.Hour
	longestTime = 90 * 24 * time.Hour
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

// bySession returns whose session a request belongs to, and extends it.
func (a *Auth) bySession(w http.ResponseWriter, r *http.Request) (Identity, error) {
	s, cookie, err := a.ofCookie(r)
	if err != nil || cookie == nil {
		return Identity{}, err
	}
	if a.now().Sub(s.Used) >= recordUse {
		if err := a.use(w, r, s, cookie.Value); err != nil {
			a.log.Warn("extend a session", "user", s.User, "error", err)
		}
	}
	return Identity{User: s.User, Method: s.Provider, Scope: Manage, session: s.Hash}, nil
}

// ofCookie returns the session that a request belongs to and the cookie that
// tells; no cookie when it belongs to none. What other programs on the same host
// keep in cookies of the same name is nobody's session, and stays theirs.
func (a *Auth) ofCookie(r *http.Request) (store.Session, *http.Cookie, error) {
	for _, cookie := range a.cookies(r, sessionCookie) {
		s, err := a.session(r.Context(), hashOf(cookie.Value))
		if !errors.Is(err, store.ErrNotFound) {
			return s, cookie, err
		}
	}
	return store.Session{}, nil, nil
}

// use notes that a session is in use, which moves its end.
func (a *Auth) use(w http.ResponseWriter, r *http.Request, s store.Session, secret string) error {
	s.Used = a.now()
	s.Expires = a.end(s)
	if err := a.opt.Store.UseSession(r.Context(), s); err != nil {
		return err
	}
	a.giveSession(w, r, s, secret)
	return nil
}

// end returns when a session ends if it is not used again.
func (a *Auth) end(s store.Session) time.Time {
	end := s.Used.Add(idleTime)
	if !s.Kept {
		end = s.Used.Add(unkeptTime)
	}
	i := slices.IndexFunc(a.methods, func(m Method) bool { return m.ID() == s.Provider }) // it has one, or would be over
	if latest := s.Created.Add(a.methods[i].longest); end.After(latest) {
		return latest
	}
	return end
}

// giveSession gives a browser its session: for as long as it lasts, or until the browser is closed.
func (a *Auth) giveSession(w http.ResponseWriter, r *http.Request, s store.Session, secret string) {
	var age time.Duration
	if s.Kept {
		age = s.Expires.Sub(a.now())
	}
	a.setCookie(w, r, a.cookieName(r, sessionCookie), secret, age)
}

// session returns a session that is still good: neither expired nor made under
// settings of its provider that have been changed since.
func (a *Auth) session(ctx context.Context, hash []byte) (store.Session, error) {
	s, err := a.opt.Store.Session(ctx, hash)
	if err != nil {
		return s, err
	}
	if !a.counts(s) {
		return s, store.ErrNotFound
	}
	return s, nil
}

func (a *Auth) counts(s store.Session) bool {
	return a.now().Before(s.Expires) && slices.ContainsFunc(a.methods, func(m Method) bool {
		return m.ID() == s.Provider && m.stamp != nil && bytes.Equal(m.stamp, s.Stamp)
	})
}

// Current reports whether somebody who was identified earlier still is, as far
// as the store can tell: a stream outlives the check of its request by far.
func (a *Auth) Current(ctx context.Context, who Identity) bool {
	var err error
	switch {
	case who.session != nil:
		_, err = a.session(ctx, who.session)
	case who.token != nil:
		_, err = a.token(ctx, who.token)
	}
	return !errors.Is(err, store.ErrNotFound) && !errors.Is(err, ErrToken)
}

// begin makes a session for somebody who has just logged in. The session that
// the browser had, if any, ends: its id may be known to others. keep is whether
// it is to outlive the browser's being closed.
func (a *Auth) begin(w http.ResponseWriter, r *http.Request, who Identity, keep bool) (Identity, error) {
	for _, old := range a.cookies(r, sessionCookie) {
		if err := a.opt.Store.EndSession(r.Context(), hashOf(old.Value)); err != nil {
			return Identity{}, err
		}
	}
	i := slices.IndexFunc(a.methods, func(m Method) bool { return m.ID() == who.Method })
	secret, now := newSecret(), a.now()
	s := store.Session{Hash: hashOf(secret), User: who.User, Provider: who.Method, Stamp: a.methods[i].stamp, Created: now, Used: now, Kept: keep}
	s.Expires = a.end(s)
	if err := a.opt.Store.AddSession(r.Context(), s); err != nil {
		return Identity{}, err
	}
	a.giveSession(w, r, s, secret)
	if len(a.cookies(r, keepCookie)) > 0 {
		a.setCookie(w, r, a.cookieName(r, keepCookie), "", -1)
	}
	a.record(r, event.LoginSucceeded, who.User, event.Login{Method: who.Method})
	who.session = s.Hash
	return who, nil
}

// Keep reports whether a browser's next session is to outlive its being closed:
// what Remember was told a moment ago, else true.
func (a *Auth) Keep(r *http.Request) bool {
	said := a.cookies(r, keepCookie)
	return len(said) == 0 || said[0].Value != "0"
}

// Remember sets whether the session of a request outlives the browser's being
// closed, or without a session that of the login that is to come.
func (a *Auth) Remember(w http.ResponseWriter, r *http.Request, keep bool) error {
	s, cookie, err := a.ofCookie(r)
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
	return a.use(w, r, s, cookie.Value)
}

// Logout ends the session of a request, if it has one, and returns where its
// user can log out of the provider; "" when there is no such place.
func (a *Auth) Logout(w http.ResponseWriter, r *http.Request) (elsewhere string, err error) {
	s, cookie, err := a.ofCookie(r)
	if err != nil || cookie == nil {
		return "", err
	}
	if err := a.opt.Store.EndSession(r.Context(), s.Hash); err != nil {
		return "", err
	}
	a.setCookie(w, r, cookie.Name, "", -1)
	a.record(r, event.LoggedOut, s.User, event.Login{Method: s.Provider})
	for name, p := range a.providers {
		if s.Provider == "oidc."+name {
			return p.logoutFrom(r.Context(), a.public(r)), nil
		}
	}
	return "", nil
}
