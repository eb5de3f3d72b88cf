// Package oidctest is an OpenID Connect provider for tests: it logs in the user who
// is next in its queue, without a login page.
package oidctest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	keyID     = "key-of-the-test"
	lifeOfIDs = 10 * time.Minute
)

// User is an account of the provider.
type User interface {
	// Claims changes what the ID token will say; it has iss, aud, exp, iat, nbf
	// and, if the client sent one, nonce.
	Claims(token map[string]any)
	// Info is the response of the userinfo endpoint.
	Info() map[string]any
}

// Provider is a provider with one client. Its fields may be changed between requests.
type Provider struct {
	ClientID, ClientSecret string

	server *httptest.Server
	key    *rsa.PrivateKey

	mu     sync.Mutex
	queue  []User
	logins map[string]*login // by code
	tokens map[string]User   // by access token
}

// login is a request at the authorization endpoint.
type login struct {
	user             User
	nonce, challenge string
	redirect         string
}

// signingKey is the one that all providers of a process sign with: making one takes as long as a login.
var signingKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// Start starts a provider, which ends with the test.
func Start(t testing.TB) *Provider {
	t.Helper()
	key, err := signingKey()
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{
		ClientID: rand.Text(), ClientSecret: rand.Text(), key: key, logins: map[string]*login{}, tokens: map[string]User{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oidc/.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /oidc/keys", p.keys)
	mux.HandleFunc("GET /oidc/authorize", p.authorize)
	mux.HandleFunc("POST /oidc/token", p.token)
	mux.HandleFunc("GET /oidc/userinfo", p.userinfo)
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

// Shutdown ends the provider before the test does: connections to it are refused.
func (p *Provider) Shutdown() { p.server.Close() }

// Issuer is the address of the provider.
func (p *Provider) Issuer() string { return p.server.URL + "/oidc" }

// AuthorizationEndpoint is where browsers are redirected to log in.
func (p *Provider) AuthorizationEndpoint() string { return p.Issuer() + "/authorize" }

// DiscoveryEndpoint is where the provider describes itself (OpenID Connect Discovery 1.0, section 4).
func (p *Provider) DiscoveryEndpoint() string {
	return p.Issuer() + "/.well-known/openid-configuration"
}

// QueueUser makes a user the one who logs in after those that were queued before.
func (p *Provider) QueueUser(u User) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, u)
}

// unknown logs in when the queue is empty.
type unknown struct{}

func (unknown) Claims(token map[string]any) { token["sub"] = "nobody" }
func (unknown) Info() map[string]any        { return map[string]any{"sub": "nobody"} }

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, map[string]any{
		"issuer": p.Issuer(), "authorization_endpoint": p.AuthorizationEndpoint(), "token_endpoint": p.Issuer() + "/token",
		"jwks_uri": p.Issuer() + "/keys", "userinfo_endpoint": p.Issuer() + "/userinfo",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"}, "code_challenge_methods_supported": []string{"S256"},
		"scopes_supported": []string{"openid", "email", "profile", "groups"},
	})
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, jose.JSONWebKeySet{
		Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: keyID, Algorithm: string(jose.RS256), Use: "sig"}},
	})
}

// authorize sends the next user back at once (OpenID Connect Core 1.0, section 3.1.2).
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	scopes := strings.Fields(q.Get("scope"))
	if err != nil || !back.IsAbs() || q.Get("client_id") != p.ClientID || q.Get("response_type") != "code" ||
		q.Get("state") == "" ||
		!slices.Contains(scopes, "openid") || q.Get("code_challenge") != "" && q.Get("code_challenge_method") != "S256" {
		refuse(w, http.StatusBadRequest, "invalid_request")
		return
	}
	code := rand.Text()
	p.mu.Lock()
	var user User = unknown{}
	if len(p.queue) > 0 {
		user, p.queue = p.queue[0], p.queue[1:]
	}
	p.logins[code] = &login{
		user: user, nonce: q.Get("nonce"), challenge: q.Get("code_challenge"), redirect: q.Get("redirect_uri"),
	}
	p.mu.Unlock()
	query := back.Query()
	query.Set("code", code)
	query.Set("state", q.Get("state"))
	back.RawQuery = query.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token exchanges a code, once (OpenID Connect Core 1.0, section 3.1.3; RFC 7636 section 4.6).
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	if id != p.ClientID || secret != p.ClientSecret {
		refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l, known := p.logins[r.PostFormValue("code")]
	delete(p.logins, r.PostFormValue("code"))
	verifier := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !known || r.PostFormValue("grant_type") != "authorization_code" || r.PostFormValue("redirect_uri") != l.redirect ||
		l.challenge != "" && base64.RawURLEncoding.EncodeToString(verifier[:]) != l.challenge {
		refuse(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	signed, err := p.idToken(l)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	access := rand.Text()
	p.tokens[access] = l.user
	respond(w, http.StatusOK, map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": int(lifeOfIDs.Seconds()), "id_token": signed,
	})
}

func (p *Provider) idToken(l *login) (string, error) {
	now := time.Now()
	claims := map[string]any{
		"iss": p.Issuer(), "aud": []string{p.ClientID}, "exp": now.Add(lifeOfIDs).Unix(), "iat": now.Unix(),
		"nbf": now.Unix(),
	}
	if l.nonce != "" {
		claims["nonce"] = l.nonce
	}
	l.user.Claims(claims)
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: keyID},
	}, nil)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

func (p *Provider) userinfo(w http.ResponseWriter, r *http.Request) {
	access, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	p.mu.Lock()
	user, known := p.tokens[access]
	p.mu.Unlock()
	if !known {
		refuse(w, http.StatusUnauthorized, "invalid_token")
		return
	}
	respond(w, http.StatusOK, user.Info())
}

// refuse responds with an error as of RFC 6749, section 5.2.
func refuse(w http.ResponseWriter, status int, code string) {
	respond(w, status, map[string]string{"error": code})
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have gone
}
