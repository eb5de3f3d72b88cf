package oci

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

const (
	// tokenLife is how long a token lives when its service does not say, or says
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
	// narrowTime is for how long a service that refuses several scopes at once is
	// asked for one at a time.
	narrowTime = 6 * time.Hour
	// bulk is from what length on a token can be what makes a request too long.
	bulk = 4 << 10
	// refusalTime is for how long refused credentials are not shown again:
	// services lock accounts after too many wrong passwords.
	refusalTime = time.Minute
	// anyRepository is the key of a token that serves every repository.
	anyRepository = "*"
)

// sharedTokens are services whose anonymous tokens serve every public
// repository, whatever scope they were asked for.
var sharedTokens = map[string]bool{"ghcr.io": true, "public.ecr.aws": true}

// fewerScopes are services whose tokens are longer: Docker Hub writes the pull
// limits beside each repository, some 165 bytes in all.
var fewerScopes = map[string]int{"registry.docker.io": 40}

// scopesOf returns for how many scopes one token of a service is asked.
func scopesOf(service string) int {
	if n, few := fewerScopes[service]; few {
		return n
	}
	return maxScopes
}

type issuerKey struct {
	realm, service string
	user           sdk.Credentials
}

// issuer holds the tokens that one token service gave to one user.
type issuer struct {
	// named means that the tokens are for a user with credentials.
	named bool

	mu sync.Mutex
	// tokens are by scope; one token may be there under many.
	tokens map[string]*token
	// narrowUntil is until when tokens for many repositories do not work here.
	narrowUntil time.Time
	// most is for how many scopes tokens have proved short enough; 0 when none was too long.
	most    int
	refused error
	until   time.Time
}

// token is a token that is being fetched until ready is closed.
type token struct {
	ready   chan struct{}
	value   string
	expires time.Time
	err     error
	// scopes is how many it was asked for.
	scopes int
	// any means that it should serve every repository.
	any bool
	// worked are the scopes with which a registry has accepted it; guarded by the issuer.
	worked map[string]bool
}

// wide reports whether a token should serve more scopes than one.
func (t *token) wide() bool { return t.any || t.scopes > 1 }

// request is what a token is wanted for.
type request struct {
	scope string
	// ask is the scope to ask for, where the registry wants another text than scope.
	ask string
	// together are scopes to ask for in the same request, if that saves one.
	together []string
	// most is how many scopes one token may be asked for.
	most int
	// anyScope means that a token of this service serves every repository.
	anyScope bool
	// narrow wants a token for this scope alone.
	narrow bool
}

type fetch func(ctx context.Context, scopes []string) (string, time.Duration, error)

// token returns a token for r, by asking only when none is there, and whether
// it was asked for just now. Calls that want the same token wait for one request.
func (i *issuer) token(ctx context.Context, r request, ask fetch) (t *token, fresh bool, err error) {
	for {
		t, mine, err := i.claim(r)
		if err != nil {
			return nil, false, err
		}
		if mine != nil {
			i.fill(ctx, t, mine, ask)
		}
		select {
		case <-t.ready:
		case <-ctx.Done():
			return nil, false, gaveUp(ctx)
		}
		switch {
		case t.err == nil:
			return t, mine != nil, nil
		case mine == nil && (errors.Is(t.err, context.Canceled) || errors.Is(t.err, context.DeadlineExceeded)):
			// Whoever asked gave up; that is no answer for us.
		case t.any && mine != nil:
			// Our own scope was refused; others may ask with theirs.
			return nil, false, t.err
		case t.wide() && tooWide(t.err):
			// The issuer asks for less now.
		default:
			return nil, false, t.err
		}
		if ctx.Err() != nil {
			return nil, false, gaveUp(ctx)
		}
	}
}

// claim returns a usable token, or one that the caller must fill by asking for the scopes in mine.
func (i *issuer) claim(r request) (t *token, mine []string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	if i.refused != nil && now.Before(i.until) {
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
	mine = []string{r.scope}
	if r.ask != "" {
		mine[0] = r.ask
	}
	switch {
	case r.narrow:
	case r.anyScope:
		i.tokens[anyRepository], t.any = t, true
	default:
		most := r.most
		if i.most > 0 {
			most = min(most, i.most)
		}
		length := scopeLength(mine[0])
		for _, scope := range r.together {
			if len(mine) >= most {
				break
			}
			if i.live(scope, now) != nil {
				continue
			}
			if length += scopeLength(scope); length > maxScopeText {
				break
			}
			i.tokens[scope] = t
			mine = append(mine, scope)
		}
	}
	t.scopes = len(mine)
	return t, mine, nil
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
func (i *issuer) fill(ctx context.Context, t *token, scopes []string, ask fetch) {
	value, life, err := ask(ctx, scopes)
	i.mu.Lock()
	defer i.mu.Unlock()
	t.value, t.err, t.expires = value, err, time.Now().Add(life-tokenMargin)
	if err != nil {
		i.forget(t)
		switch {
		case t.scopes > 1 && tooLong(statusOf(err)):
			i.most = t.scopes / 2
		case t.scopes > 1 && tooWide(err):
			i.narrowUntil = time.Now().Add(narrowTime)
		case i.named && wrongCredentials(err):
			i.refused, i.until = err, time.Now().Add(refusalTime)
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

// accepted tells that a registry took t. A token for one scope that works
// where a wide one did not proves that wide ones do not work here.
func (i *issuer) accepted(t *token, scope string, afterWide bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	t.worked[scope] = true
	if afterWide && !t.wide() {
		i.narrowUntil = time.Now().Add(narrowTime)
	}
}

// bulky tells that a registry refused a request as too long. It reports
// whether t may be the reason; the next token will be for fewer scopes.
func (i *issuer) bulky(t *token) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if t.scopes < 2 || len(t.value) < bulk || len(t.worked) > 0 {
		return false
	}
	i.forget(t)
	i.most = t.scopes / 2
	return true
}

// rejected tells that a registry did not take t. It reports whether the fault
// may be that t is wide; else t has ended before its time.
func (i *issuer) rejected(t *token, scope string) (wide bool) {
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

// tooWide reports whether a refusal may be due to asking for many scopes at
// once. Some services answer that with an internal error.
func tooWide(err error) bool {
	status := statusOf(err)
	return status >= 400 && status <= http.StatusNotImplemented && status != http.StatusTooManyRequests
}

// tooLong reports whether a status says that a request is longer than the server reads.
func tooLong(status int) bool {
	return status == http.StatusRequestEntityTooLarge || status == http.StatusRequestURITooLong || status == http.StatusRequestHeaderFieldsTooLarge
}

// wrongCredentials reports whether the service refuses the user rather than a scope.
func wrongCredentials(err error) bool {
	return statusOf(err) == http.StatusUnauthorized
}

// readToken reads the answer of a token service.
func readToken(resp *http.Response) (string, time.Duration, error) {
	body, err := httpclient.ReadAll(resp, maxTokenBody)
	if err != nil {
		return "", 0, err
	}
	var answer struct {
		Token       string      `json:"token"`
		AccessToken string      `json:"access_token"`
		ExpiresIn   json.Number `json:"expires_in"`
	}
	if json.Unmarshal(body, &answer) != nil {
		if isWebPage(resp) {
			return "", 0, webPage(resp)
		}
		return "", 0, lie("gave no token: the answer is not the expected JSON (%d bytes, %.40q)", len(body), resp.Header.Get("Content-Type"))
	}
	value := answer.Token
	if value == "" {
		value = answer.AccessToken
	}
	if value == "" || strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return "", 0, lie("gave no usable token")
	}
	seconds, err := answer.ExpiresIn.Float64()
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

// refresh asks a token service for what the query of the usual request says, by
// trading an identity token
// (https://distribution.github.io/distribution/spec/auth/oauth/).
func refresh(ctx context.Context, realm *url.URL, query url.Values, token string) *http.Request {
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {"dogwatch"}, "refresh_token": {token}}
	form["service"], form["scope"] = query["service"], []string{strings.Join(query["scope"], " ")}
	req := newRequest(ctx, http.MethodPost, realm, http.Header{"Accept": {"application/json"}})
	httpclient.SetBody(req, "application/x-www-form-urlencoded", []byte(form.Encode()))
	return req
}
