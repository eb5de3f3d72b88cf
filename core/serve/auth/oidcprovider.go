package auth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/dogwatch/dogwatch/internal/webaddress"
)

const (
	wellKnown = "/.well-known/openid-configuration"
	// maxDocument bounds what is read of a provider at a time.
	maxDocument = 1 << 20
	// retryBackoff is how long after a failed discovery the next is attempted, so that
	// requests that wait for the lock do not each wait for the provider.
	retryBackoff = 3 * time.Second
	// skew is how far the clocks of the provider and of this machine may differ.
	skew = 2 * time.Minute
)

// provider is an OpenID Connect provider.
type provider struct {
	method  Method
	options oidcOptions
	client  *http.Client
	now     func() time.Time

	mu       sync.Mutex // held during discovery, so that one request does it for all
	known    atomic.Pointer[discovered]
	failedAt time.Time
	failed   error // of the last discovery
}

// discovered are the settings of a provider, as it publishes them.
type discovered struct {
	read     time.Time
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
	logout   string // the end_session_endpoint; "" without one
}

func newProvider(m Method, o oidcOptions, security *tls.Config, agent string, now func() time.Time) *provider {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = security
	transport.MaxIdleConns, transport.IdleConnTimeout = 2, 30*time.Second
	return &provider{
		method: m, options: o, now: now,
		client: &http.Client{Timeout: o.Timeout, Transport: exchange{transport, agent}},
	}
}

// exchange is a transport that says who asks, and limits the size of responses.
type exchange struct {
	next  http.RoundTripper
	agent string
}

func (e exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", e.agent)
	resp, err := e.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxDocument), resp.Body}
	return resp, nil
}

// settings returns what the provider publishes, and does the discovery again once
// that is older than the ttl. If it fails, the settings known before are returned.
func (p *provider) settings(ctx context.Context) (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.known.Load()
	ttl := time.Duration(p.options.TTL) * time.Minute
	if d != nil && (ttl < 0 || p.now().Sub(d.read) < max(ttl, time.Minute)) {
		return d, nil
	}
	if p.failed == nil || p.now().Sub(p.failedAt) > retryBackoff {
		var fresh *discovered
		fresh, p.failed = p.discover(ctx)
		if p.failed == nil {
			p.known.Store(fresh)
			return fresh, nil
		}
		p.failedAt = p.now()
		if err := ctx.Err(); err != nil { // the request ended, which says nothing about the provider
			p.failed = nil
			return nil, err
		}
	}
	if d != nil {
		return d, nil
	}
	return nil, p.failed
}

// discover fetches the settings of the provider (OpenID Connect Discovery 1.0,
// section 4). The issuer must be the one that is configured, but for a trailing slash.
func (p *provider) discover(ctx context.Context) (*discovered, error) {
	issuer := strings.TrimRight(strings.TrimSuffix(p.options.Discovery.String(), wellKnown), "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, issuer+wellKnown, nil)
	if err != nil {
		return nil, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask %s for its settings: %w", p.method.ID(), p.explain(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil,
			fmt.Errorf("ask %s for its settings: %s answered %s: check auth.%s.discovery", p.method.ID(),
				req.URL.Redacted(), resp.Status, p.method.ID())
	}
	var document struct {
		oidc.ProviderConfig
		Logout string `json:"end_session_endpoint"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&document); err != nil {
		return nil,
			fmt.Errorf("ask %s for its settings: %s is not an OpenID Connect provider: %w", p.method.ID(),
				p.options.Discovery.Redacted(), err)
	}
	c := document.ProviderConfig
	switch {
	case strings.TrimRight(c.IssuerURL, "/") != issuer:
		return nil,
			fmt.Errorf("%s says that its issuer is %q, not %q: set auth.%s.discovery to the issuer", p.method.ID(),
				c.IssuerURL, issuer, p.method.ID())
	case webaddress.Of(c.AuthURL) == "" || webaddress.Of(c.TokenURL) == "" || webaddress.Of(c.JWKSURL) == "":
		return nil, fmt.Errorf("%s does not tell its authorization_endpoint, token_endpoint and jwks_uri", p.method.ID())
	}
	document.Logout = webaddress.Of(document.Logout)
	// Keys are fetched later, when this request is over.
	lasting := oidc.ClientContext(context.Background(), p.client)
	d := &discovered{read: p.now(), provider: c.NewProvider(lasting), logout: document.Logout}
	d.verifier = d.provider.VerifierContext(lasting, &oidc.Config{
		ClientID: p.options.ClientID, SupportedSigningAlgs: signing(c.Algorithms), SkipExpiryCheck: true, // see timely
	})
	return d, nil
}

// signing returns the asymmetric signature algorithms of a provider.
func signing(offered []string) []string {
	var validSessions []string
	for _, alg := range offered {
		if alg != "none" && !strings.HasPrefix(alg, "HS") {
			validSessions = append(validSessions, alg)
		}
	}
	return validSessions
}

// explain removes the address, which may hold a secret, from an error of net/http,
// and adds the remedy for an unknown certificate authority.
func (p *provider) explain(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var authority x509.UnknownAuthorityError
	if errors.As(err, &authority) {
		return fmt.Errorf("%w: set auth.%s.tls.cafile to the PEM file of that authority", err, p.method.ID())
	}
	return err
}

func (p *provider) oauth(d *discovered, public string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.options.ClientID, ClientSecret: p.options.ClientSecret, Endpoint: d.provider.Endpoint(),
		RedirectURL: public + callbackPath(p.method.Name), Scopes: p.options.Scopes,
	}
}

func callbackPath(name string) string { return "/auth/oidc/" + url.PathEscape(name) + "/cb" }

// logoutFrom returns where to log out of the provider, for the server's public
// address; "" when there is no such address or the provider is not reachable.
func (p *provider) logoutFrom(ctx context.Context, public string) string {
	d, err := p.settings(ctx)
	if err != nil {
		return ""
	}
	back := ""
	if p.options.LogoutReturn {
		back = public + callbackPath(p.method.Name)
	}
	return logoutURL(d, p.options.ClientID, back)
}

// logoutURL returns where to log out of a provider, which redirects to back unless
// that is "" (OpenID Connect RP-Initiated Logout 1.0, section 2). The client id is
// sent instead of an id token, which would have to be stored for that.
func logoutURL(d *discovered, client, back string) string {
	if d == nil || d.logout == "" {
		return ""
	}
	u, err := url.Parse(d.logout)
	if err != nil {
		return ""
	}
	query := u.Query()
	query.Set("client_id", client)
	if back != "" {
		query.Set("post_logout_redirect_uri", back)
	}
	u.RawQuery = query.Encode()
	return u.String()
}
