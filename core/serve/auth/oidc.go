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
	// flowTime is how long a login at the provider may take.
	flowTime = 10 * time.Minute
	// moved marks a request that was redirected from another name of this server.
	moved = "moved"
)

// ErrUnknownProvider: there is no OpenID Connect provider of that name.
var ErrUnknownProvider = errors.New("no such provider")

// ErrProviderUnavailable: the provider is not reachable or its responses are not
// valid. That says nothing about the user.
var ErrProviderUnavailable = errors.New("the provider cannot be asked now")

// flow is a pending login (authorization code flow with PKCE). The browser keeps
// it in an encrypted cookie.
type flow struct {
	Provider string    `json:"p"`
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Public   string    `json:"u"`
	Next     string    `json:"t,omitempty"`
	Ends     time.Time `json:"e"`
}

// BeginOIDC begins a login at a provider, sets the cookie of the flow, and returns
// where to redirect the browser. next is the path, below the base path, where it
// goes afterwards. The error is ErrUnknownProvider, or wraps ErrProviderUnavailable.
func (a *Auth) BeginOIDC(w http.ResponseWriter, r *http.Request, name, next string) (string, error) {
	p, known := a.providers[name]
	if !known {
		return "", ErrUnknownProvider
	}
	// The provider redirects the browser to public.url, where a cookie of another
	// host name is not sent: begin there. At most one redirect, as a proxy may hide
	// the name.
	if u := a.opt.Config.PublicURL; u != nil && !strings.EqualFold(u.Host, a.requestHost(r)) && !r.URL.Query().Has(moved) {
		return a.publicURL(r) + ProviderURL(name) + "?" + url.Values{moved: {"1"}, "next": {LocalPath(next)}}.Encode(), nil
	}
	d, err := p.settings(r.Context())
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrProviderUnavailable, err)
	}
	f := flow{
		Provider: name, State: newSecret(), Nonce: newSecret(), Verifier: oauth2.GenerateVerifier(),
		Public: a.publicURL(r), Next: LocalPath(next), Ends: a.now().Add(flowTime),
	}
	sealed, err := a.seal(f)
	if err != nil {
		return "", err
	}
	a.setCookie(w, r, a.cookieName(r, flowCookie), sealed, flowTime)
	return p.oauth(d, f.Public).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

// FinishOIDC ends a login at a provider: it checks the provider's redirect, begins
// a session, and returns where to redirect the browser. The error is
// ErrUnknownProvider, a *ThrottledError, or wraps ErrBadCredentials if the user may
// not log in, which is recorded, or if this browser has no pending login, which is
// not. It wraps ErrProviderUnavailable when the provider could not be reached.
// After a logout at the provider it returns the login page.
func (a *Auth) FinishOIDC(w http.ResponseWriter, r *http.Request, name string) (next string, err error) {
	p, known := a.providers[name]
	if !known {
		return "", ErrUnknownProvider
	}
	if query := r.URL.Query(); !query.Has("state") && !query.Has("code") && !query.Has("error") {
		return a.publicURL(r) + "/login?stay", nil
	}
	f, err := a.pendingFlow(w, r, name)
	if err != nil {
		// Any page can make a browser request this address, as an image: that is no
		// attempt to log in.
		a.log.Debug("a redirect from a provider belongs to no pending login", "provider", name, "address", a.Address(r),
			"error", err)
		return "", fmt.Errorf("%w: %w", ErrBadCredentials, err)
	}
	attempt := allowance{{a.passwords.networks, a.rateKey(r)}}
	if wait := attempt.take(a.now()); wait > 0 {
		a.auditFailure(r, p.method.ID(), unknownUser, errThrottled)
		return "", &ThrottledError{Wait: wait}
	}
	if !a.spent.use(f, a.now()) {
		err := fmt.Errorf("%w: this login was used before: begin again", ErrBadCredentials)
		a.auditFailure(r, p.method.ID(), unknownUser, err)
		return "", err
	}
	user, err := p.login(r.Context(), f, r.URL.Query())
	if err == nil || errors.Is(err, ErrProviderUnavailable) {
		attempt.refund()
	}
	if err != nil {
		if !errors.Is(err, ErrProviderUnavailable) {
			err = fmt.Errorf("%w: %w", ErrBadCredentials, err)
		}
		a.auditFailure(r, p.method.ID(), unknownUser, err)
		return "", err
	}
	caller := Identity{User: userName(user, p.method.ID()), Method: p.method.ID(), Scope: Manage}
	if _, err := a.startSession(w, r, caller, a.Keep(r)); err != nil {
		return "", err
	}
	return f.Public + cmp.Or(f.Next, "/"), nil
}

// pendingFlow returns the login that a browser has begun, and deletes its cookie,
// so that it can be used only once.
func (a *Auth) pendingFlow(w http.ResponseWriter, r *http.Request, name string) (flow, error) {
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

// login exchanges the code of the provider's redirect for the name of a user who
// may log in.
func (p *provider) login(ctx context.Context, f flow, redirect url.Values) (string, error) {
	if code := redirect.Get("error"); code != "" {
		return "",
			fmt.Errorf("%s refused: %s", p.method.ID(), printable(strings.TrimSpace(code+" "+redirect.Get("error_description"))))
	}
	d, err := p.settings(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrProviderUnavailable, err)
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.oauth(d, f.Public).Exchange(ctx, redirect.Get("code"), oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return "", p.exchangeError(err)
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
	if err := p.checkParty(id, known); err != nil {
		return "", err
	}
	if err := p.checkTimes(id, known); err != nil {
		return "", err
	}
	if d.provider.UserInfoEndpoint() != "" {
		if err := p.addUserInfo(ctx, d, known, id.Subject, token); err != nil {
			return "", err
		}
	}
	return p.admit(known)
}

// checkParty refuses an id token that was issued to another client (OpenID Connect Core 1.0,
// section 3.1.3.7, 3 to 5): the verifier has seen that this one is among its audiences.
func (p *provider) checkParty(id *oidc.IDToken, known claims) error {
	party, stated := known["azp"]
	switch {
	case !stated && len(id.Audience) > 1:
		return fmt.Errorf("the id token of %s is for several clients and does not say which asked for it (azp)",
			p.method.ID())
	case stated && party != p.options.ClientID:
		return fmt.Errorf("the id token of %s was issued to another client (azp): check auth.%s.clientid",
			p.method.ID(), p.method.ID())
	}
	return nil
}

// checkTimes refuses an id token that is expired or not valid yet (OpenID Connect Core 1.0,
// section 3.1.3.7, 9 and 10; RFC 7519, section 4.1.5).
func (p *provider) checkTimes(id *oidc.IDToken, known claims) error {
	now, from := p.now(), id.IssuedAt
	if seconds, stated := known["nbf"].(float64); stated && from.Unix() < int64(seconds) {
		from = time.Unix(int64(seconds), 0)
	}
	if now.Add(-skew).Before(id.Expiry) && !from.After(now.Add(skew)) {
		return nil
	}
	return fmt.Errorf("the id token of %s counts from %s to %s, and here it is %s: compare the clocks of this machine and of the provider",
		p.method.ID(), from.UTC().Format(time.RFC3339), id.Expiry.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
}

// addUserInfo adds the claims of the provider's userinfo endpoint.
func (p *provider) addUserInfo(
	ctx context.Context, d *discovered, known claims, subject string, token *oauth2.Token,
) error {
	info, err := d.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	var unreachable *url.Error
	switch {
	case errors.As(err, &unreachable):
		return fmt.Errorf("%w: ask %s for the user: %w", ErrProviderUnavailable, p.method.ID(), p.explain(err))
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

// exchangeError returns why a code was not accepted, without what was sent.
func (p *provider) exchangeError(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return fmt.Errorf("%s did not accept the login: %s", p.method.ID(),
			printable(strings.TrimSpace(refused.Response.Status+" "+refused.ErrorCode)))
	}
	return fmt.Errorf("%w: ask %s for the login: %w", ErrProviderUnavailable, p.method.ID(), p.explain(err))
}

// seal encrypts a pending login with a key of this process.
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
