package auth

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	tokenPrefix = "dw_"
	tokenLength = len(tokenPrefix) + 43
	// recordUse is how often the last use of a session or token is stored.
	recordUse    = 5 * time.Minute
	maxTokenName = 100
)

// IsToken reports whether text has the form of a token.
func IsToken(text string) bool {
	return len(text) == tokenLength && strings.HasPrefix(text, tokenPrefix)
}

// byToken identifies the caller by a token.
func (a *Auth) byToken(ctx context.Context, text string) (Identity, error) {
	if !IsToken(text) {
		return Identity{}, ErrBadToken
	}
	t, err := a.storedToken(ctx, hashOf(text))
	if err != nil {
		return Identity{}, err
	}
	now := a.now()
	if now.Sub(t.Used) >= recordUse {
		if err := a.opt.Store.UseToken(ctx, t.ID, now); err != nil {
			a.log.Warn("record the use of a token", "token", t.Name, "error", err)
		}
	}
	caller := Identity{User: userName(t.Name, "token"), Method: "token", Scope: Read, token: t.Hash}
	if t.Scope == Write.String() {
		caller.Scope = Write
	}
	return caller, nil
}

// storedToken returns a token that is still good, or ErrBadToken.
func (a *Auth) storedToken(ctx context.Context, hash []byte) (store.Token, error) {
	t, err := a.opt.Store.Token(ctx, hash)
	if errors.Is(err, store.ErrNotFound) || err == nil && !t.Expires.IsZero() && !a.now().Before(t.Expires) {
		return t, ErrBadToken
	}
	return t, err
}

// NewToken is a token to be created.
type NewToken struct {
	// Name says what the token is for.
	Name string
	// Scope is Read or Write.
	Scope Scope
	// Expires is the zero time for one that never does.
	Expires time.Time
}

// CreateToken creates a token on behalf of an actor and returns its secret, which is
// not stored, and what is. The error is an *sdk.InvalidError when a field is not valid.
func (a *Auth) CreateToken(
	ctx context.Context, actor Actor, want NewToken,
) (secret string, created store.Token, err error) {
	want.Name = strings.TrimSpace(want.Name)
	switch {
	case want.Name == "":
		return "", created, sdk.Invalid("name", "is required: say what the token is for")
	case utf8.RuneCountInString(want.Name) > maxTokenName, strings.ContainsFunc(want.Name, unicode.IsControl):
		return "", created, sdk.Invalid("name", "want at most 100 characters on one line")
	case want.Scope != Read && want.Scope != Write:
		return "", created, sdk.Invalid("scope", "want read or write")
	case !want.Expires.IsZero() && !want.Expires.After(a.now()):
		return "", created, sdk.Invalid("expires", "want a time to come")
	}
	secret = tokenPrefix + newSecret()
	created, err = a.opt.Store.AddToken(ctx, store.Token{
		Name: want.Name, Hash: hashOf(secret), Scope: want.Scope.String(), Creator: actor.User, Created: a.now(),
		Expires: want.Expires,
	})
	if err != nil {
		return "", created, err
	}
	a.audit(ctx, event.TokenCreated, actor.User, event.Login{
		Token: created.Name, Scope: created.Scope, Address: actor.ClientAddress(),
	})
	return secret, created, nil
}

// Tokens returns all tokens, the newest first.
func (a *Auth) Tokens(ctx context.Context) ([]store.Token, error) { return a.opt.Store.Tokens(ctx) }

// RevokeToken ends a token at once, on behalf of an actor. The error wraps
// store.ErrNotFound when there is none.
func (a *Auth) RevokeToken(ctx context.Context, actor Actor, id int64) error {
	gone, err := a.opt.Store.RemoveToken(ctx, id)
	if err != nil {
		return err
	}
	a.audit(ctx, event.TokenRevoked, actor.User, event.Login{
		Token: gone.Name, Scope: gone.Scope, Address: actor.ClientAddress(),
	})
	return nil
}
