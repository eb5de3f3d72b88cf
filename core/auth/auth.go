// Package auth decides whom a request comes from and what it may do.
//
// People log in with a password (basic) or at an OpenID Connect provider
// (oidc) and get a session; programs send a password or a token with every
// request. Without any auth section everybody is "anonymous" and may do
// everything, as in What's Up Docker. Once a section of another type is
// written, be it wrong, everything is denied to those who do not log in.
//
// Secrets of sessions and tokens have 256 bits from crypto/rand and are stored
// as SHA-256. Guessing passwords is slowed down by network and by user, one
// password is checked at a time, and an unknown user costs as much as a known
// one. Who logs in, fails to and logs out is in the log of events.
package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
)

// Scope is what a request may do; a greater one includes the lesser ones.
type Scope int

// The scopes.
const (
	Nothing Scope = iota
	Read          // see everything
	Write         // check containers, run triggers, restart plugins
	Manage        // give away and revoke tokens, end sessions: only people who are logged in
)

// String returns the scope as tokens have it.
func (s Scope) String() string { return [...]string{"nothing", "read", "write", "manage"}[s] }

// The errors that callers tell apart with errors.Is.
var (
	// ErrWrong: the credentials are wrong, expired, or of an account that may not.
	ErrWrong = errors.New("wrong user or password")
	// ErrToken: there is no such token, or it has expired.
	ErrToken = errors.New("unknown or expired token")
)

// TooManyError refuses to look at credentials, after too many wrong ones.
type TooManyError struct{ Wait time.Duration }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%v: try again in %s", errTooMany, e.Wait.Round(time.Second))
}

var errTooMany = errors.New("too many wrong logins")

// AnonymousName is the user who did not log in.
const AnonymousName = "anonymous"

// Identity is whom a request comes from. The zero Identity is nobody.
type Identity struct {
	User string
	// Method is how that is known: "basic.ana", "oidc.home", "token" or "anonymous".
	Method string
	Scope  Scope

	operator bool   // although nobody logged in
	session  []byte // hash of the session; nil without one
	token    []byte // hash of the token; nil without one
}

// Session reports whether the user has a session, and so can log out.
func (i Identity) Session() bool { return i.session != nil }

// Person reports whether a person sent the request rather than a program with
// a token: who logged in is told to people only.
func (i Identity) Person() bool { return i.Scope >= Manage || i.Method == AnonymousName }

// Operator reports whether the request comes from whoever runs the installation:
// somebody who is logged in or, where no login is configured, anybody without a
// token. Only operators see secrets as they are stored, say which executables
// are trusted, and have hosts asked that nothing here uses.
func (i Identity) Operator() bool { return i.Scope >= Manage || i.operator }

type identityKey struct{}

// With returns a context of a request that comes from who.
func With(ctx context.Context, who Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, who)
}

// From returns whom the request of a context comes from.
func From(ctx context.Context) Identity {
	who, _ := ctx.Value(identityKey{}).(Identity)
	return who
}

// Store keeps sessions and tokens, and the log of events.
type Store interface {
	Session(ctx context.Context, hash []byte) (store.Session, error)
	AddSession(ctx context.Context, s store.Session) error
	Sessions(ctx context.Context) ([]store.Session, error)
	UseSession(ctx context.Context, s store.Session) error
	EndSession(ctx context.Context, hash []byte) error
	Token(ctx context.Context, hash []byte) (store.Token, error)
	Tokens(ctx context.Context) ([]store.Token, error)
	AddToken(ctx context.Context, t store.Token) (store.Token, error)
	UseToken(ctx context.Context, id int64, at time.Time) error
	RemoveToken(ctx context.Context, id int64) (store.Token, error)
	Commit(ctx context.Context, change event.Change) error
}

// Options are what an Auth needs.
type Options struct {
	Config *config.Config
	Store  Store
	// Secrets, if set, is told what must not be logged.
	Secrets func(...string)
	Log     hclog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Auth knows the ways to log in. Its methods may be called concurrently.
type Auth struct {
	opt       Options
	log       hclog.Logger
	now       func() time.Time
	methods   []Method
	problems  []config.Problem
	open      bool // anonymous users may do everything
	passwords passwords
	providers map[string]*provider // by name
	proxies   []netip.Prefix
	failures  *limiter // samples failures by network, for the log
	trail     *limiter // bounds how many of them are stored
	sealing   [32]byte // of this process; seals the cookies of logins under way
}

// New reads the auth sections of a configuration. What is wrong with them is in
// Problems and lets nobody in. New connects to nothing.
func New(opt Options) *Auth {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Secrets == nil {
		opt.Secrets = func(...string) {}
	}
	a := &Auth{opt: opt, log: opt.Log.Named("auth"), now: opt.Now, providers: map[string]*provider{}, proxies: opt.Config.Server.Proxies(), failures: newLimiter(2048, 20, 30*time.Second), trail: newLimiter(1, 100, time.Minute)}
	_, _ = rand.Read(a.sealing[:]) // never fails (crypto/rand)
	a.passwords = newPasswords()
	a.open = !opt.Config.AuthAsked
	for _, c := range opt.Config.Auth {
		a.add(c)
	}
	if !a.open && len(a.passwords.users)+len(a.providers) == 0 {
		a.problems = append(a.problems, config.Problem{Key: "auth", Level: config.Error,
			Message: "nobody can log in, and nobody gets in without", Remedy: "complete auth.basic.{name}.user and .hash, or remove everything of auth to open the server to all"})
	}
	return a
}

// Open reports whether nobody needs to log in.
func (a *Auth) Open() bool { return a.open }

// Problems returns what is wrong with the auth sections, for the operator.
func (a *Auth) Problems() []config.Problem { return slices.Clone(a.problems) }

// Method is one way to log in.
type Method struct {
	Type, Name string
	// Configuration is what was configured, masked.
	Configuration map[string]any
	// Problem is why it lets nobody in; "" when it does.
	Problem string

	stamp   []byte        // stands for all its settings
	longest time.Duration // that a session of it lasts
}

// ID returns "basic.ana".
func (m Method) ID() string { return m.Type + "." + m.Name }

// Methods returns the configured ways to log in, or the anonymous one when there is none.
func (a *Auth) Methods() []Method {
	if a.open && len(a.methods) == 0 {
		return []Method{{Type: AnonymousName, Name: AnonymousName, Configuration: map[string]any{}}}
	}
	return slices.Clone(a.methods)
}

// Strategy is a way to log in as login pages show it.
type Strategy struct {
	Type string
	Name string
	// Redirect asks the page to go there without being asked (oidc).
	Redirect bool
	// LogoutURL is where to log out of the provider; "" when not known.
	LogoutURL string
}

// Strategies returns the ways that work, those of one type and name once, by their names.
func (a *Auth) Strategies() []Strategy {
	list := []Strategy{}
	if a.open {
		list = append(list, Strategy{Type: AnonymousName, Name: "Anonymous"})
	}
	if len(a.passwords.users) > 0 {
		list = append(list, Strategy{Type: "basic", Name: "Login"})
	}
	for name, p := range a.providers {
		list = append(list, Strategy{Type: "oidc", Name: name, Redirect: p.options.Redirect, LogoutURL: logoutURL(p.known.Load(), p.options.ClientID, "")})
	}
	slices.SortFunc(list, func(x, y Strategy) int { return strings.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name)) })
	return list
}

// stampOf stands for the settings of a method: a session made under other ones is over.
func stampOf(values any) []byte {
	text, err := json.Marshal(values)
	if err != nil {
		panic(fmt.Sprintf("auth: encode settings: %v", err)) // texts, numbers and lists; cannot fail
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

// Identify returns whom a request comes from: by its session, else by the
// credentials it sends. Without a login where none is needed that is the
// anonymous user. It returns nobody and no error when the request has no
// credentials; ErrWrong, ErrToken or a *TooManyError when they do not count;
// any other error when the store fails. It may set a cookie.
func (a *Auth) Identify(w http.ResponseWriter, r *http.Request) (Identity, error) {
	who, err := a.bySession(w, r)
	if err != nil || who.Scope > Nothing {
		return who, err
	}
	who, err = a.byCredentials(r)
	if who.Scope == Nothing && a.open {
		return Identity{User: AnonymousName, Method: AnonymousName, Scope: Write, operator: !a.opt.Config.AuthAsked}, nil
	}
	return who, err
}

func (a *Auth) byCredentials(r *http.Request) (Identity, error) {
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		return a.byToken(r.Context(), strings.TrimSpace(rest))
	case strings.EqualFold(scheme, "Basic"):
		user, password, ok := r.BasicAuth()
		if !ok {
			return Identity{}, ErrWrong
		}
		if IsToken(password) { // for clients that know no bearer tokens
			return a.byToken(r.Context(), password)
		}
		who, fresh, err := a.byPassword(r, user, password)
		if fresh && err == nil { // once, for programs log in with every request
			a.record(r, event.LoginSucceeded, who.User, event.Login{Method: who.Method})
		}
		return who, err
	case scheme != "":
		return Identity{}, ErrWrong
	}
	return Identity{}, nil
}

// ProviderURL returns the path, below the base path, at which a login with the
// provider of that name begins.
func ProviderURL(name string) string { return "/auth/oidc/" + url.PathEscape(name) + "/redirect" }
