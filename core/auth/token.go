package auth

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	tokenPrefix = "dw_"
	tokenLength = len(tokenPrefix) + 43
	// recordUse is how exactly it is known when a token was used last.
	recordUse    = 5 * time.Minute
	maxTokenName = 100
)

// IsToken reports whether text has the form of a token.
func IsToken(text string) bool {
	return len(text) == tokenLength && strings.HasPrefix(text, tokenPrefix)
}

// byToken returns whom a token stands for.
func (a *Auth) byToken(ctx context.Context, text string) (Identity, error) {
	if !IsToken(text) {
		return Identity{}, ErrToken
	}
	t, err := a.token(ctx, hashOf(text))
	if err != nil {
		return Identity{}, err
	}
	now := a.now()
	if now.Sub(t.Used) >= recordUse {
		if err := a.opt.Store.UseToken(ctx, t.ID, now); err != nil {
			a.log.Warn("record the use of a token", "token", t.Name, "error", err)
		}
	}
	who := Identity{User: t.Name, Method: "token", Scope: Read, token: t.Hash}
	if t.Scope == Write.String() {
		who.Scope = Write
	}
	return who, nil
}

// token returns a token that is still good, or ErrToken.
func (a *Auth) token(ctx context.Context, hash []byte) (store.Token, error) {
	t, err := a.opt.Store.Token(ctx, hash)
	if errors.Is(err, store.ErrNotFound) || err == nil && !t.Expires.IsZero() && !a.now().Before(t.Expires) {
		return t, ErrToken
	}
	return t, err
}

// NewToken is a token to be made.
type NewToken struct {
	// Name is what people know it by.
	Name string
	// Scope is Read or Write.
	Scope Scope
	// Expires is the zero time for one that never does.
	Expires time.Time
	// Creator is the user who makes it, Address where from.
	Creator, Address string
}

// CreateToken makes a token and returns its secret, which nobody can find out
// again, and what is stored. The error is an *sdk.InvalidError when the wish makes no sense.
func (a *Auth) CreateToken(ctx context.Context, wish NewToken) (secret string, made store.Token, err error) {
	wish.Name = strings.TrimSpace(wish.Name)
	switch {
	case wish.Name == "":
		return "", made, sdk.Invalid("name", "is required: say what the token is for")
	case utf8.RuneCountInString(wish.Name) > maxTokenName, strings.ContainsFunc(wish.Name, unicode.IsControl):
		return "", made, sdk.Invalid("name", "want at most 100 characters on one line")
	case wish.Scope != Read && wish.Scope != Write:
		return "", made, sdk.Invalid("scope", "want read or write")
	case !wish.Expires.IsZero() && !wish.Expires.After(a.now()):
		return "", made, sdk.Invalid("expires", "want a time to come")
	}
	secret = tokenPrefix + newSecret()
	made, err = a.opt.Store.AddToken(ctx, store.Token{
		Name: wish.Name, Hash: hashOf(secret), Scope: wish.Scope.String(), Creator: wish.Creator, Created: a.now(), Expires: wish.Expires,
	})
	if err != nil {
		return "", made, err
	}
	a.append(ctx, event.TokenCreated, wish.Creator, event.Login{Token: made.Name, Scope: made.Scope, Address: wish.Address})
	return secret, made, nil
}

// Tokens returns all tokens, the newest first.
func (a *Auth) Tokens(ctx context.Context) ([]store.Token, error) { return a.opt.Store.Tokens(ctx) }

// RevokeToken ends a token at once. The error wraps store.ErrNotFound when there is none.
func (a *Auth) RevokeToken(ctx context.Context, id int64, by, address string) error {
	gone, err := a.opt.Store.RemoveToken(ctx, id)
	if err != nil {
		return err
	}
	a.append(ctx, event.TokenRevoked, by, event.Login{Token: gone.Name, Scope: gone.Scope, Address: address})
	return nil
}
