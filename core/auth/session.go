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
	sessionCookie = "dogwatch_session"
	// keepCookie is what a login page was told to do with the session to come.
	keepCookie = "dogwatch_keep"
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

// CarriesSession reports whether a request has a session's cookie, be the session over or not.
func (a *Auth) CarriesSession(r *http.Request) bool {
	return len(r.CookiesNamed(sessionCookie)) > 0
}

// bySession returns whose session a request belongs to, and extends it.
func (a *Auth) bySession(w http.ResponseWriter, r *http.Request) (Identity, error) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || cookie.Value == "" {
		return Identity{}, nil
	}
	s, err := a.session(r.Context(), hashOf(cookie.Value))
	if errors.Is(err, store.ErrNotFound) {
		return Identity{}, nil
	}
	if err != nil {
		return Identity{}, err
	}
	if a.now().Sub(s.Used) >= recordUse {
		if err := a.use(w, r, s, cookie.Value); err != nil {
			a.log.Warn("extend a session", "user", s.User, "error", err)
		}
	}
	return Identity{User: s.User, Method: s.Provider, Scope: Manage, session: s.Hash}, nil
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
	a.setCookie(w, r, sessionCookie, secret, age)
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
	if old, err := r.Cookie(sessionCookie); err == nil {
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
	if _, err := r.Cookie(keepCookie); err == nil {
		a.setCookie(w, r, keepCookie, "", -1)
	}
	a.record(r, event.LoginSucceeded, who.User, event.Login{Method: who.Method})
	who.session = s.Hash
	return who, nil
}

// Keep reports whether a browser's next session is to outlive its being closed:
// what Remember was told a moment ago, else true.
func (a *Auth) Keep(r *http.Request) bool {
	cookie, err := r.Cookie(keepCookie)
	return err != nil || cookie.Value != "0"
}

// Remember sets whether the session of a request outlives the browser's being
// closed, or without a session that of the login that is to come.
func (a *Auth) Remember(w http.ResponseWriter, r *http.Request, keep bool) error {
	who, err := a.bySession(w, r)
	if err != nil {
		return err
	}
	if who.session == nil {
		value := "0"
		if keep {
			value = "1"
		}
		a.setCookie(w, r, keepCookie, value, flowTime)
		return nil
	}
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return err // it was there a moment ago
	}
	s, err := a.session(r.Context(), who.session)
	if err != nil {
		return err
	}
	s.Kept = keep
	return a.use(w, r, s, cookie.Value)
}

// Logout ends the session of a request, if it has one, and returns where its
// user can log out of the provider; "" when there is no such place.
func (a *Auth) Logout(w http.ResponseWriter, r *http.Request) (elsewhere string, err error) {
	who, err := a.bySession(w, r)
	if err != nil || who.session == nil {
		return "", err
	}
	if err := a.opt.Store.EndSession(r.Context(), who.session); err != nil {
		return "", err
	}
	a.setCookie(w, r, sessionCookie, "", -1)
	a.record(r, event.LoggedOut, who.User, event.Login{Method: who.Method})
	for name, p := range a.providers {
		if who.Method == "oidc."+name {
			return p.logoutFrom(r.Context(), a.public(r)), nil
		}
	}
	return "", nil
}

// setCookie gives the browser a cookie that pages cannot read and that other
// sites' requests do not carry. It lasts until the browser is closed with an
// age of 0; a negative one takes it away.
func (a *Auth) setCookie(w http.ResponseWriter, r *http.Request, name, value string, age time.Duration) {
	seconds := int(age / time.Second)
	if age < 0 {
		seconds = -1
	}
	header := w.Header()
	kept := header.Values("Set-Cookie")
	header.Del("Set-Cookie")
	for _, line := range kept { // one line for each cookie (RFC 6265, section 4.1.1)
		if cookie, err := http.ParseSetCookie(line); err != nil || cookie.Name != name {
			header.Add("Set-Cookie", line)
		}
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: a.secure(r),
	})
}
