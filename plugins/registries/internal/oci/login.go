package oci

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// Login supplies the credentials of a registry. It is safe for concurrent use.
type Login interface {
	// Credentials returns what to log in with at a host; the zero value means anonymously.
	Credentials(ctx context.Context, host string) (sdk.Credentials, error)
	// Refused tells that the registry did not accept used. It reports whether
	// asking for credentials again may give other ones.
	Refused(used sdk.Credentials) bool
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
