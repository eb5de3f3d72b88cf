package oci

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

const (
	// tokenLife is how long a token is valid when its service does not say, or says
	// less: the protocol promises 60 seconds.
	tokenLife    = 60 * time.Second
	maxTokenLife = 12 * time.Hour
	// tokenMargin is how long before its end a token is no longer used.
	tokenMargin  = 10 * time.Second
	maxTokenBody = 64 << 10
	// maxScopeText is how many bytes of the URL of a token request the scopes may
	// take: servers accept 8 KiB, and the rest is for the address of the service.
	maxScopeText = 6 << 10
	// maxScopes keeps a token, which names what it is for in some 100 bytes each,
	// within the 8 KiB that servers accept as one header.
	maxScopes = 80
	// narrowTime is for how long tokens of a service that refuses several scopes at
	// once are requested for one scope each.
	narrowTime = 6 * time.Hour
	// longToken is from what length on a token can be what makes a request too long.
	longToken = 4 << 10
	// failureTime is for how long refused credentials are not sent again:
	// services lock accounts after too many wrong passwords.
	failureTime = time.Minute
	// anyRepository is the key of a token that serves every repository.
	anyRepository = "*"
)

// sharedTokens are services whose anonymous tokens serve every public
// repository, whatever scope they were requested for.
var sharedTokens = map[string]bool{"ghcr.io": true, "public.ecr.aws": true}

// fewerScopes are services whose tokens are longer: Docker Hub writes the pull
// limits beside each repository, some 165 bytes in all.
var fewerScopes = map[string]int{"registry.docker.io": 40}

// scopesOf returns for how many scopes one token of a service is requested.
func scopesOf(service string) int {
	if n, few := fewerScopes[service]; few {
		return n
	}
	return maxScopes
}

type issuerKey struct {
	realm, service string
	// public keeps what a service inside the network gave from registries outside.
	public bool
	user   sdk.Credentials
}

// issuer is the cache of the tokens that one token service issued to one user.
type issuer struct {
	// named means that the tokens are for a user with credentials.
	named bool

	mu sync.Mutex
	// tokens are by scope; one token may be there under many.
	tokens map[string]*token
	// narrowUntil is until when tokens for many repositories do not work here.
	narrowUntil time.Time
	// maxScopes is for how many scopes tokens have proved short enough; 0 when none was too long.
	maxScopes int
	// refused is why the credentials were refused; it holds until refusedUntil.
	refused      error
	refusedUntil time.Time
}

// token is a token that is being fetched until ready is closed.
type token struct {
	ready   chan struct{}
	value   string
	expires time.Time
	err     error
	// scopes is for how many it was requested.
	scopes int
	// any means that it should serve every repository.
	any bool
	// worked are the scopes with which a registry has accepted it; guarded by the issuer.
	worked map[string]bool
}

// wide reports whether a token should serve more scopes than one.
func (t *token) wide() bool { return t.any || t.scopes > 1 }

// tokenRequest is what a token is wanted for.
type tokenRequest struct {
	scope string
	// demanded is the scope to request in place of scope, where the registry wants another text.
	demanded string
	// scopeHints are scopes to request at the same time, if that saves a request. They are made
	// when a token has to be fetched; nil for none.
	scopeHints iter.Seq[string]
	// maxScopes is how many scopes one token may be requested for.
	maxScopes int
	// anyScope means that a token of this service serves every repository.
	anyScope bool
	// narrow wants a token for this scope alone.
	narrow bool
}

// fetchFunc requests a token for scopes and returns it with its lifetime.
type fetchFunc func(ctx context.Context, scopes []string) (string, time.Duration, error)

// token returns a token for r, from the cache where it can, and whether it was
// fetched just now. Concurrent calls for the same token wait for one request.
func (i *issuer) token(ctx context.Context, r tokenRequest, fetch fetchFunc) (t *token, fresh bool, err error) {
	for {
		t, claimed, err := i.claim(r)
		if err != nil {
			return nil, false, err
		}
		if claimed != nil {
			i.fill(ctx, t, claimed, fetch)
		}
		select {
		case <-t.ready:
		case <-ctx.Done():
			return nil, false, contextError(ctx)
		}
		switch {
		case t.err == nil:
			return t, claimed != nil, nil
		case claimed == nil && (errors.Is(t.err, context.Canceled) || errors.Is(t.err, context.DeadlineExceeded)):
			// The call that fetched it was cancelled, which says nothing about this one.
		case t.any && claimed != nil:
			// This scope was refused; concurrent calls may succeed with theirs.
			return nil, false, t.err
		case t.wide() && tooWide(t.err):
			// The next claim is for fewer scopes.
		default:
			return nil, false, t.err
		}
		if ctx.Err() != nil {
			return nil, false, contextError(ctx)
		}
	}
}

// claim returns a usable token, or a new one and the scopes for which the caller must fill it.
func (i *issuer) claim(r tokenRequest) (t *token, scopes []string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	if i.refused != nil && now.Before(i.refusedUntil) {
		return nil, nil, i.refused
	}
	if t := i.live(r.scope, now); t != nil && !(r.narrow && t.wide()) {
		return t, nil, nil
	}
	if r.narrow = r.narrow || now.Before(i.narrowUntil); !r.narrow && r.anyScope {
		if t := i.live(anyRepository, now); t != nil {
			return t, nil, nil
		}
	}
	i.prune(now)
	t = &token{ready: make(chan struct{}), worked: map[string]bool{}}
	i.tokens[r.scope] = t
	scopes = []string{r.scope}
	if r.demanded != "" {
		scopes[0] = r.demanded
	}
	switch {
	case r.narrow:
	case r.anyScope:
		i.tokens[anyRepository], t.any = t, true
	default:
		scopes = i.addHints(r, t, scopes, now)
	}
	t.scopes = len(scopes)
	return t, scopes, nil
}

// addHints adds the scope hints for which there is no token yet, as many as one
// token and its request may have. The caller holds the lock.
func (i *issuer) addHints(r tokenRequest, t *token, scopes []string, now time.Time) []string {
	most := r.maxScopes
	if i.maxScopes > 0 {
		most = min(most, i.maxScopes)
	}
	if r.scopeHints == nil {
		return scopes
	}
	length := scopeLength(scopes[0])
	for scope := range r.scopeHints {
		if len(scopes) >= most {
			break
		}
		if i.live(scope, now) != nil {
			continue
		}
		if length += scopeLength(scope); length > maxScopeText {
			break
		}
		i.tokens[scope] = t
		scopes = append(scopes, scope)
	}
	return scopes
}

// live returns the token under a key unless it has expired. A token being fetched is live.
func (i *issuer) live(key string, now time.Time) *token {
	t := i.tokens[key]
	if t == nil {
		return nil
	}
	select {
	case <-t.ready:
		if now.After(t.expires) {
			return nil
		}
	default:
	}
	return t
}

func (i *issuer) prune(now time.Time) {
	for key := range i.tokens {
		if i.live(key, now) == nil {
			delete(i.tokens, key)
		}
	}
}

// fill fetches a claimed token.
func (i *issuer) fill(ctx context.Context, t *token, scopes []string, fetch fetchFunc) {
	value, life, err := fetch(ctx, scopes)
	i.mu.Lock()
	defer i.mu.Unlock()
	t.value, t.err, t.expires = value, err, time.Now().Add(life-tokenMargin)
	if err != nil {
		i.forget(t)
		switch {
		case t.scopes > 1 && tooLong(statusOf(err)):
			i.maxScopes = t.scopes / 2
		case t.scopes > 1 && tooWide(err):
			i.narrowUntil = time.Now().Add(narrowTime)
		case i.named && wrongCredentials(err):
			i.refused, i.refusedUntil = err, time.Now().Add(failureTime)
		}
	}
	close(t.ready)
}

// forget removes every trace of a token. The caller holds the lock.
func (i *issuer) forget(t *token) {
	for key, other := range i.tokens {
		if other == t {
			delete(i.tokens, key)
		}
	}
}

// accepted records that a registry accepted t. A token for one scope that works
// where a wide one did not proves that wide ones do not work here.
func (i *issuer) accepted(t *token, scope string, afterWide bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	t.worked[scope] = true
	if afterWide && !t.wide() {
		i.narrowUntil = time.Now().Add(narrowTime)
	}
}

// requestTooLong records that a registry refused a request as too long. It
// reports whether t may be the reason; the next token will be for fewer scopes.
func (i *issuer) requestTooLong(t *token) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if t.scopes < 2 || len(t.value) < longToken || len(t.worked) > 0 {
		return false
	}
	i.forget(t)
	i.maxScopes = t.scopes / 2
	return true
}

// tokenRefused records that a registry did not accept t. It reports whether the reason
// may be that t is wide; else t has expired early.
func (i *issuer) tokenRefused(t *token, scope string) (wide bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if t.worked[scope] || !t.wide() {
		i.forget(t)
		return false
	}
	if i.tokens[scope] == t {
		delete(i.tokens, scope)
	}
	return true
}

// tooWide reports whether a refusal may be due to a request for many scopes at
// once. Some services respond to that with an internal error.
func tooWide(err error) bool {
	status := statusOf(err)
	return status >= 400 && status <= http.StatusNotImplemented && status != http.StatusTooManyRequests
}

// tooLong reports whether a status says that a request is longer than the server reads.
func tooLong(status int) bool {
	return status == http.StatusRequestEntityTooLarge || status == http.StatusRequestURITooLong ||
		status == http.StatusRequestHeaderFieldsTooLarge
}

// wrongCredentials reports whether the service refuses the user rather than a scope.
func wrongCredentials(err error) bool {
	return statusOf(err) == http.StatusUnauthorized
}

// readToken reads the response of a token service.
func readToken(resp *http.Response) (string, time.Duration, error) {
	body, err := httpclient.ReadAll(resp, maxTokenBody)
	if err != nil {
		return "", 0, err
	}
	var response struct {
		Token       string      `json:"token"`
		AccessToken string      `json:"access_token"`
		ExpiresIn   json.Number `json:"expires_in"`
	}
	if json.Unmarshal(body, &response) != nil {
		if isWebPage(resp) {
			return "", 0, webPage(resp)
		}
		return "", 0,
			protocolError("gave no token: the answer is not the expected JSON (%d bytes, %.40q)", len(body),
				resp.Header.Get("Content-Type"))
	}
	value := cmp.Or(response.Token, response.AccessToken)
	if value == "" || strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return "", 0, protocolError("gave no usable token")
	}
	seconds, err := response.ExpiresIn.Float64()
	if err != nil {
		seconds = 0
	}
	seconds = min(max(seconds, tokenLife.Seconds()), maxTokenLife.Seconds())
	return value, time.Duration(seconds * float64(time.Second)), nil
}

// scopeLength is how many bytes a scope takes in the URL of a token request.
func scopeLength(scope string) int { return len("&scope=") + len(url.QueryEscape(scope)) }

// tokenURL adds what a token is wanted for to the address of its service.
func tokenURL(realm *url.URL, service string, scopes []string) *url.URL {
	u := *realm
	query := u.Query()
	if service != "" {
		query.Set("service", service)
	}
	for _, scope := range scopes {
		query.Add("scope", scope)
	}
	u.RawQuery = query.Encode()
	return &u
}

// refreshRequest is the request for the token that the query of the usual request
// describes, in exchange for an identity token
// (https://distribution.github.io/distribution/spec/auth/oauth/).
func refreshRequest(ctx context.Context, realm *url.URL, query url.Values, token string) *http.Request {
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {"dogwatch"}, "refresh_token": {token}}
	form["service"], form["scope"] = query["service"], []string{strings.Join(query["scope"], " ")}
	req := newRequest(ctx, http.MethodPost, realm, http.Header{"Accept": {"application/json"}})
	httpclient.SetBody(req, "application/x-www-form-urlencoded", []byte(form.Encode()))
	return req
}
