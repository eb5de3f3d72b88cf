package oci

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk"
)

// Login supplies the credentials of a registry. It is safe for concurrent use.
type Login interface {
	// Credentials returns what to log in with at a host; the zero value means anonymously.
	Credentials(ctx context.Context, host string) (sdk.Credentials, error)
	// Refused notifies the login that the registry did not accept used. It reports
	// whether another call of Credentials may return other ones.
	Refused(used sdk.Credentials) bool
}

// The user names that stand for a token in place of a password. The first is
// what Docker's credential helpers call it.
const (
	// IdentityToken is exchanged for tokens of the registry (distribution
	// specification of OAuth 2.0, "refresh_token").
	IdentityToken = "<token>"
	// RegistryToken is sent to the registry itself.
	RegistryToken = "<registry token>"
)

// DefaultLogin is a Login for registries that have no credentials of their own.
// Credentials is called with the host that receives them.
type DefaultLogin interface {
	Login
	// Source names where the credentials for a host are kept, for remedies; ""
	// when there are none.
	Source(host string) string
	// LogTo sets where to log what is wrong with it. Only the first call counts.
	LogTo(hclog.Logger)
}

// SetDefaultLogin makes registries that are opened afterwards use l when they have
// no credentials of their own. It must be called before the first Open.
func (s *Shared) SetDefaultLogin(l DefaultLogin) { s.defaultLogin = l }

// login returns where the credentials of a registry come from; nil when there are none.
func (r *Registry) login() Login {
	switch {
	case r.Login != nil:
		return r.Login
	case r.shared.defaultLogin != nil:
		return r.shared.defaultLogin
	}
	return nil
}

// defaultCredentials returns credentials for requests about a host: those of the
// host that receives the requests, be it a mirror.
func (r *Registry) defaultCredentials(ctx context.Context, host string) (sdk.Credentials, error) {
	if r.shared.defaultLogin == nil {
		return sdk.Credentials{}, nil
	}
	base, err := r.base(host)
	if err != nil {
		return sdk.Credentials{}, err
	}
	return r.shared.defaultLogin.Credentials(ctx, base.Host)
}

// defaultSource names where the default credentials for a host are kept; "" when there are none.
func (r *Registry) defaultSource(host string) string {
	if r.Login != nil || r.shared.defaultLogin == nil {
		return ""
	}
	return r.shared.defaultLogin.Source(host)
}

// Static returns a Login of credentials that never change, or nil when there are none.
func Static(username, password string) Login {
	if username == "" && password == "" {
		return nil
	}
	return static{Username: username, Password: password}
}

type static sdk.Credentials

func (s static) Credentials(context.Context, string) (sdk.Credentials, error) {
	return sdk.Credentials(s), nil
}

func (static) Refused(sdk.Credentials) bool { return false }

// Pair is Static for a pair of options that must be set both or not at all.
func Pair(userKey, user, passKey, pass string) (Login, error) {
	switch {
	case user == "" && pass != "":
		return nil, sdk.Invalid(userKey, "is required with %s", passKey)
	case user != "" && pass == "":
		return nil, sdk.Invalid(passKey, "is required with %s", userKey)
	}
	return Static(user, pass), nil
}

// PairOrAuth is Pair for types that also accept both in one option called
// auth: base64 of "user:password", as the Docker client stores them.
func PairOrAuth(userKey, user, passKey, pass, auth string) (Login, error) {
	if auth == "" {
		return Pair(userKey, user, passKey, pass)
	}
	if user != "" || pass != "" {
		return nil, sdk.Invalid("auth", "cannot be combined with %s and %s; keep one of them", userKey, passKey)
	}
	c, ok := decodeBasic(auth)
	if !ok {
		return nil, sdk.Invalid("auth", "must be base64 of user:password, as docker login stores it")
	}
	return Static(c.Username, c.Password), nil
}

func decodeBasic(auth string) (sdk.Credentials, bool) {
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(auth))
	if err != nil {
		return sdk.Credentials{}, false
	}
	user, password, found := strings.Cut(string(decoded), ":")
	return sdk.Credentials{Username: user, Password: password}, found && user != "" && password != ""
}

func encodeBasic(c sdk.Credentials) string {
	return base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password))
}
