package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/handler/openid"
	"github.com/ory/fosite/storage"
	"github.com/ory/fosite/token/jwt"
)

// provider has one client and the users of pages.go.
type provider struct {
	issuer string
	client *fosite.DefaultClient
	oauth  fosite.OAuth2Provider

	mu       sync.Mutex
	claimed  string // the issuer that discovery tells of
	keys     keys
	skew     time.Duration     // how fast its clock is
	sessions map[string]string // names of users by cookie
}

func newProvider(issuer, client, secret string) (*provider, error) {
	p := &provider{issuer: issuer, claimed: issuer, sessions: map[string]string{}}
	if err := p.keys.add("RS256"); err != nil {
		return nil, err
	}
	global := make([]byte, 32)
	_, _ = rand.Read(global) // never fails (crypto/rand)
	config := &fosite.Config{
		GlobalSecret: global, IDTokenIssuer: issuer, EnforcePKCE: true, IDTokenLifespan: 10 * time.Minute,
		ScopeStrategy: fosite.ExactScopeStrategy,
	}
	hashed, err := (&fosite.BCrypt{Config: config}).Hash(context.Background(), []byte(secret))
	if err != nil {
		return nil, err
	}
	p.client = &fosite.DefaultClient{
		ID: client, Secret: hashed, RedirectURIs: []string{}, ResponseTypes: []string{"code"},
		GrantTypes: []string{"authorization_code"},
		Scopes:     []string{"openid", "email", "profile", "groups"},
	}
	store := storage.NewMemoryStore()
	store.Clients[client] = p.client
	signer := clock{&jwt.DefaultSigner{GetPrivateKey: p.key}, p}
	p.oauth = compose.Compose(config, store, &compose.CommonStrategy{
		CoreStrategy:               compose.NewOAuth2HMACStrategy(config),
		OpenIDConnectTokenStrategy: &openid.DefaultStrategy{Signer: signer, Config: config},
		Signer:                     signer,
	}, compose.OAuth2AuthorizeExplicitFactory, compose.OpenIDConnectExplicitFactory, compose.OAuth2PKCEFactory,
		compose.OAuth2TokenIntrospectionFactory)
	return p, nil
}

func (p *provider) key(context.Context) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys.newest(), nil
}

// clock signs what a provider whose clock is wrong would sign.
type clock struct {
	jwt.Signer
	of *provider
}

func (c clock) Generate(ctx context.Context, claims jwt.MapClaims, header jwt.Mapper) (string, string, error) {
	c.of.mu.Lock()
	skew := int64(c.of.skew / time.Second)
	c.of.mu.Unlock()
	for _, name := range []string{"iat", "exp", "auth_time", "rat"} {
		if at, is := claims[name].(int64); is {
			claims[name] = at + skew
		}
	}
	return c.Signer.Generate(ctx, claims, header)
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has left
}

func (p *provider) discovery(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	reply(w, map[string]any{
		"issuer": p.claimed, "authorization_endpoint": p.issuer + "/authorize", "token_endpoint": p.issuer + "/token",
		"userinfo_endpoint": p.issuer + "/userinfo", "jwks_uri": p.issuer + "/keys",
		"end_session_endpoint":     p.issuer + "/logout",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256", "ES256"},
		"code_challenge_methods_supported":      []string{"S256"},
	})
}

func (p *provider) publicKeys(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	reply(w, p.keys.public())
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	request, err := p.oauth.NewAccessRequest(ctx, r, openid.NewDefaultSession())
	if err != nil {
		p.oauth.WriteAccessError(ctx, w, request, err)
		return
	}
	response, err := p.oauth.NewAccessResponse(ctx, request)
	if err != nil {
		p.oauth.WriteAccessError(ctx, w, request, err)
		return
	}
	p.oauth.WriteAccessResponse(ctx, w, request, response)
}

func (p *provider) userinfo(w http.ResponseWriter, r *http.Request) {
	_, request, err := p.oauth.IntrospectToken(r.Context(), fosite.AccessTokenFromRequest(r), fosite.AccessToken,
		openid.NewDefaultSession())
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	name := request.GetSession().GetSubject()
	info := users[name].claims(name)
	info["sub"] = name
	reply(w, info)
}

// control spoils things, as a test asks for it.
func (p *provider) control(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fail := func(err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}
	switch value := r.FormValue("to"); r.FormValue("set") {
	case "redirect": // of logins and of logouts
		p.client.RedirectURIs = append(p.client.RedirectURIs, value)
	case "issuer":
		p.claimed = value
	case "key": // a new one takes the place of all others
		p.keys = nil
		fail(p.keys.add(value))
	case "skew":
		var err error
		p.skew, err = time.ParseDuration(value)
		fail(err)
	default:
		http.Error(w, "unknown", http.StatusNotFound)
	}
}
