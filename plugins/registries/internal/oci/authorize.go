package oci

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// authorization is what a request carries to be authorized.
type authorization struct {
	header string
	user   sdk.Credentials
	issuer *issuer
	token  *token
	scope  string
	// fresh means that the token was fetched for this very request.
	fresh bool
}

// authorize returns the authorization that the host demands of a request, as far as it is known.
func (a *attempt) authorize(ctx context.Context, h *host) (authorization, error) {
	c := h.challenge()
	if c == nil {
		return authorization{}, nil
	}
	var user sdk.Credentials
	var err error
	if !a.untrusted {
		if user, err = a.ownCredentials(ctx); err != nil {
			return authorization{}, err
		}
	}
	if user.Username == RegistryToken {
		return authorization{header: "Bearer " + user.Password, user: user}, nil
	}
	if c.basic {
		if user == (sdk.Credentials{}) || user.Username == IdentityToken { // only token services take it
			return authorization{}, nil
		}
		return authorization{header: "Basic " + encodeBasic(user), user: user}, nil
	}
	return a.bearer(ctx, h, *c, user)
}

// ownCredentials returns what to log in with: of the instance, else of the image, else by default. Those of an image
// are for its host, and go to no mirror of it.
func (a *attempt) ownCredentials(ctx context.Context) (sdk.Credentials, error) {
	if a.Login == nil && a.repo.Credentials != (sdk.Credentials{}) {
		own := reference.BaseURL(a.repo.Host)
		if reference.IsHub(a.repo.Host) {
			own = "https://" + dockerHub + "/v2"
		}
		if base, err := a.base(a.repo.Host); err == nil && base.String() == own {
			return a.repo.Credentials, nil
		}
	}
	return a.credentials(ctx, a.repo.Host)
}

// bearer returns an authorization by a token, from the cache where it can.
func (a *attempt) bearer(ctx context.Context, h *host, c challenge, user sdk.Credentials) (authorization, error) {
	realm, err := c.realmURL(a.url)
	if err != nil {
		return authorization{}, err
	}
	anonymous := user == sdk.Credentials{}
	if !anonymous && !a.trusts(a.url, realm) {
		return authorization{}, a.untrustedRealm(realm)
	}
	want := tokenRequest{
		scope: h.scope(a.prefix + a.repo.Name), demanded: a.demandedScope, narrow: a.narrow,
		anyScope: anonymous && sharedTokens[c.service], maxScopes: scopesOf(c.service),
	}
	want.scopeHints = func(yield func(string) bool) {
		for _, name := range a.repo.ScopeHints {
			if name != a.repo.Name && isRepository(name) && !yield(h.scope(a.prefix+name)) {
				return
			}
		}
	}
	i := a.shared.issuer(c, user)
	t, fresh, err := i.token(ctx, want, func(ctx context.Context, scopes []string) (string, time.Duration, error) {
		ctx = a.reachable(ctx, realm, c.public)
		return a.fetchToken(ctx, realm, tokenURL(realm, c.service, scopes), user)
	})
	if err != nil {
		return authorization{}, err
	}
	return authorization{header: "Bearer " + t.value, user: user, issuer: i, token: t, scope: want.scope, fresh: fresh},
		nil
}

// fetchToken requests a token from its service. Errors of the service are of type *tokenError.
func (r *Registry) fetchToken(
	ctx context.Context, realm, address *url.URL, user sdk.Credentials,
) (value string, life time.Duration, err error) {
	header := http.Header{}
	header.Set("Accept", "application/json")
	req := newRequest(ctx, http.MethodGet, address, header)
	switch {
	case user.Username == IdentityToken:
		req = refreshRequest(ctx, realm, address.Query(), user.Password)
	case user != sdk.Credentials{}:
		header.Set("Authorization", "Basic "+encodeBasic(user))
	}
	err = r.exchange(req, user, func(resp *http.Response) (err error) {
		value, life, err = readToken(resp)
		return err
	})
	if err != nil {
		return "", 0, &tokenError{fmt.Errorf("get a token from %s: %w", realm.Host, err)}
	}
	return value, life, nil
}

// tokenError is a failure of the token service, not of the registry.
type tokenError struct{ error }

func (e *tokenError) Unwrap() error { return e.error }
