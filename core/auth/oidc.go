package auth

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	flowCookie = "dogwatch_login"
	// flowTime is how long people may take at the provider.
	flowTime = 10 * time.Minute
	// moved marks a request that was sent on from another name of this server.
	moved = "moved"
)

// ErrNoProvider: there is no OpenID Connect provider of that name.
var ErrNoProvider = errors.New("no such provider")

// ErrProvider: the provider does not answer, or not as one. That says nothing of the user.
var ErrProvider = errors.New("the provider cannot be asked now")

// flow is a login under way. The browser keeps it for us, sealed.
type flow struct {
	Provider string    `json:"p"`
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Public   string    `json:"u"`
	Next     string    `json:"t,omitempty"`
	Ends     time.Time `json:"e"`
}

// Begin starts a login at a provider and returns where the browser must go. next
// is the path, below the base path, where it goes afterwards. The error is
// ErrNoProvider, or wraps ErrProvider and says why the provider cannot be asked.
func (a *Auth) Begin(w http.ResponseWriter, r *http.Request, name, next string) (string, error) {
	p, known := a.providers[name]
	if !known {
		return "", ErrNoProvider
	}
	// The provider sends the browser to public.url, where the cookie of another
	// name is not known: begin there. Once, for a proxy may hide the name.
	if u := a.opt.Config.PublicURL; u != nil && !strings.EqualFold(u.Host, a.host(r)) && !r.URL.Query().Has(moved) {
		return a.public(r) + ProviderURL(name) + "?" + url.Values{moved: {"1"}, "next": {LocalPath(next)}}.Encode(), nil
	}
	d, err := p.settings(r.Context())
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrProvider, err)
	}
	f := flow{
		Provider: name, State: newSecret(), Nonce: newSecret(), Verifier: oauth2.GenerateVerifier(),
		Public: a.public(r), Next: LocalPath(next), Ends: a.now().Add(flowTime),
	}
	sealed, err := a.seal(f)
	if err != nil {
		return "", err
	}
	a.setCookie(w, r, a.cookieName(r, flowCookie), sealed, flowTime)
	return p.oauth(d, f.Public).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

// Finish ends a login at a provider, when the browser comes back from it, with
// a session, and returns where the browser must go. Whoever may not log in gets
// an error that wraps ErrWrong and has been recorded, and so does, without a
// record, who did not begin here; it wraps ErrProvider when the provider cannot tell. Whoever comes back from
// having logged out is sent to the login page.
func (a *Auth) Finish(w http.ResponseWriter, r *http.Request, name string) (next string, err error) {
	p, known := a.providers[name]
	if !known {
		return "", ErrNoProvider
	}
	if answer := r.URL.Query(); !answer.Has("state") && !answer.Has("code") && !answer.Has("error") {
		return a.public(r) + "/login?stay", nil
	}
	f, err := a.underWay(w, r, name)
	if err != nil {
		// Any page can send its visitors here, as an image: that is no attempt of theirs to log in.
		a.log.Debug("an answer of a provider belongs to no login", "provider", name, "address", a.Address(r), "error", err)
		return "", fmt.Errorf("%w: %w", ErrWrong, err)
	}
	attempt := allowance{{a.passwords.networks, a.bucket(r)}}
	if wait := attempt.take(a.now()); wait > 0 {
		a.failed(r, p.method.ID(), nobody, errTooMany)
		return "", &TooManyError{Wait: wait}
	}
	user, err := p.login(r.Context(), f, r.URL.Query())
	if err == nil || errors.Is(err, ErrProvider) {
		attempt.giveBack()
	}
	if err != nil {
		if !errors.Is(err, ErrProvider) {
			err = fmt.Errorf("%w: %w", ErrWrong, err)
		}
		a.failed(r, p.method.ID(), nobody, err)
		return "", err
	}
	if _, err := a.begin(w, r, Identity{User: user, Method: p.method.ID(), Scope: Manage}, a.Keep(r)); err != nil {
		return "", err
	}
	return f.Public + cmp.Or(f.Next, "/"), nil
}

// underWay returns the login that a browser has begun, which it can end once.
func (a *Auth) underWay(w http.ResponseWriter, r *http.Request, name string) (flow, error) {
	cookies := a.cookies(r, flowCookie)
	if len(cookies) == 0 {
		return flow{}, errors.New("this browser did not begin to log in here, or took too long: begin again")
	}
	a.setCookie(w, r, a.cookieName(r, flowCookie), "", -1)
	var f flow
	ok := slices.ContainsFunc(cookies, func(c *http.Cookie) (opened bool) {
		f, opened = a.unseal(c.Value)
		return opened
	})
	state := r.URL.Query().Get("state")
	switch {
	case !ok, f.Provider != name, a.now().After(f.Ends):
		return flow{}, errors.New("the login took too long: begin again")
	case subtle.ConstantTimeCompare([]byte(f.State), []byte(state)) != 1:
		return flow{}, errors.New("the answer belongs to another login (state): begin again")
	}
	return f, nil
}

// login turns the provider's answer into the name of a user who may log in.
func (p *provider) login(ctx context.Context, f flow, answer url.Values) (string, error) {
	if code := answer.Get("error"); code != "" {
		return "", fmt.Errorf("%s refused: %s", p.method.ID(), printable(strings.TrimSpace(code+" "+answer.Get("error_description"))))
	}
	d, err := p.settings(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrProvider, err)
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.oauth(d, f.Public).Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return "", p.refusal(err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := d.verifier.Verify(ctx, raw)
	switch {
	case err != nil:
		return "", fmt.Errorf("verify the id token of %s: %w", p.method.ID(), err)
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(f.Nonce)) != 1:
		return "", fmt.Errorf("the id token of %s belongs to another login (nonce)", p.method.ID())
	}
	known := claims{}
	if err := id.Claims(&known); err != nil {
		return "", fmt.Errorf("read the id token of %s: %w", p.method.ID(), err)
	}
	if err := p.timely(id, known); err != nil {
		return "", err
	}
	if d.provider.UserInfoEndpoint() != "" {
		if err := p.complete(ctx, d, known, id.Subject, token); err != nil {
			return "", err
		}
	}
	return p.admit(known)
}

// timely refuses an id token of another time than now (OpenID Connect Core 1.0,
// section 3.1.3.7, 9 and 10; RFC 7519, section 4.1.5).
func (p *provider) timely(id *oidc.IDToken, known claims) error {
	now, from := p.now(), id.IssuedAt
	if seconds, told := known["nbf"].(float64); told && from.Unix() < int64(seconds) {
		from = time.Unix(int64(seconds), 0)
	}
	if now.Add(-skew).Before(id.Expiry) && !from.After(now.Add(skew)) {
		return nil
	}
	return fmt.Errorf("the id token of %s counts from %s to %s, and here it is %s: compare the clocks of this machine and of the provider",
		p.method.ID(), from.UTC().Format(time.RFC3339), id.Expiry.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
}

// complete adds what the provider tells of a user elsewhere.
func (p *provider) complete(ctx context.Context, d *discovered, known claims, subject string, token *oauth2.Token) error {
	info, err := d.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	var silent *url.Error
	switch {
	case errors.As(err, &silent):
		return fmt.Errorf("%w: ask %s for the user: %w", ErrProvider, p.method.ID(), p.explain(err))
	case err != nil:
		return fmt.Errorf("ask %s for the user: %w", p.method.ID(), err)
	}
	if info.Subject != subject { // OpenID Connect Core 1.0, section 5.3.2
		return fmt.Errorf("%s told of another user than the one who logged in", p.method.ID())
	}
	more := claims{}
	if err := info.Claims(&more); err != nil {
		return fmt.Errorf("read what %s tells of the user: %w", p.method.ID(), err)
	}
	for name, value := range more {
		known[name] = value
	}
	return nil
}

// refusal says why a code was not accepted, without what was sent.
func (p *provider) refusal(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return fmt.Errorf("%s did not accept the login: %s", p.method.ID(), printable(strings.TrimSpace(refused.Response.Status+" "+refused.ErrorCode)))
	}
	return fmt.Errorf("%w: ask %s for the login: %w", ErrProvider, p.method.ID(), p.explain(err))
}

// seal encrypts a login under way with a key of this process.
func (a *Auth) seal(f flow) (string, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return "", err
	}
	aead, err := a.aead()
	if err != nil {
		return "", err
	}
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nonce, nonce, text, nil)), nil
}

func (a *Auth) unseal(text string) (f flow, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	aead, err2 := a.aead()
	if err != nil || err2 != nil || len(sealed) < aead.NonceSize() {
		return flow{}, false
	}
	plain, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], nil)
	return f, err == nil && json.Unmarshal(plain, &f) == nil
}

func (a *Auth) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(a.sealing[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
