// Package auth identifies the caller of a request, and says what it may do.
//
// Users log in with a password (basic) or at an OpenID Connect provider (oidc)
// and get a session cookie; programs send a password or a token with every
// request. Without any auth section every caller is "anonymous" and may do
// everything, as in What's Up Docker. Once a section of another type is written,
// even a wrong one, everything requires a login.
//
// Secrets of sessions and tokens have 256 bits from crypto/rand and are stored
// as SHA-256. Login throttling limits the rate of guesses by network and by user,
// one password is hashed at a time, and an unknown user costs as much as a known
// one. Logins, failures and logouts are in the event log.
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
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
)

// Scope is what a request may do; a greater one includes the lesser ones.
type Scope int

// The scopes.
const (
	Nothing Scope = iota
	Read          // see everything
	Write         // check containers, run triggers, restart plugins
	Manage        // create and revoke tokens, end sessions: only users who are logged in
)

// String returns the scope as tokens have it.
func (s Scope) String() string { return [...]string{"nothing", "read", "write", "manage"}[s] }

// The errors that callers tell apart with errors.Is.
var (
	// ErrBadCredentials: the credentials are wrong, expired, or of an account that may not.
	ErrBadCredentials = errors.New("wrong user or password")
	// ErrBadToken: there is no such token, or it has expired.
	ErrBadToken = errors.New("unknown or expired token")
)

// ThrottledError is returned after too many wrong credentials: the ones given were
// not checked.
type ThrottledError struct{ Wait time.Duration }

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("%v: try again in %s", errThrottled, e.Wait.Round(time.Second))
}

var errThrottled = errors.New("too many wrong logins")

// AnonymousName is the user name, method and type of a caller without a login.
const AnonymousName = event.Anonymous

// userName is the name of a caller who is known. A user or token that is named as callers without a login are goes by
// its method as well: "basic.home.anonymous".
func userName(name, method string) string {
	if name == AnonymousName {
		return method + "." + name
	}
	return name
}

// Identity is the caller of a request. The zero Identity is unauthenticated.
type Identity struct {
	User string
	// Method is how the caller was authenticated: "basic.ana", "oidc.home", "token"
	// or "anonymous".
	Method string
	Scope  Scope

	operator bool   // although not logged in
	session  []byte // hash of the session; nil without one
	token    []byte // hash of the token; nil without one
}

// Session reports whether the caller has a session, and so can log out.
func (i Identity) Session() bool { return i.session != nil }

// Token reports whether the caller is a program with a token.
func (i Identity) Token() bool { return i.token != nil }

// Person reports whether the caller is a user rather than a program with a token.
// Only users see events about logins.
func (i Identity) Person() bool { return i.Scope >= Manage || i.Method == AnonymousName }

// Operator reports whether the caller is an operator of the installation: a user
// caller is logged in or, where no login is configured, any caller without a token.
// Only operators see secrets as they are stored, trust executables, and have
// requests sent to hosts that no container uses.
func (i Identity) Operator() bool { return i.Scope >= Manage || i.operator }

type identityKey struct{}

// With returns the context of a request whose caller is known.
func With(ctx context.Context, caller Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, caller)
}

// From returns the caller of a request by its context.
func From(ctx context.Context) Identity {
	caller, _ := ctx.Value(identityKey{}).(Identity)
	return caller
}

// Store keeps sessions, tokens and the event log.
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
	// Secrets, if set, is called with what must not be logged.
	Secrets func(...string)
	// Agent is how requests to OpenID Connect providers name who makes them: "dogwatch/1.2.3".
	Agent string
	Log   hclog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Auth holds the configured login methods. Its methods may be called concurrently.
type Auth struct {
	opt       Options
	log       hclog.Logger
	now       func() time.Time
	methods   []Method
	problems  []config.Problem
	open      bool // anonymous callers may do everything
	passwords passwords
	providers map[string]*provider // by name
	proxies   []netip.Prefix
	failures  *limiter // samples failures by network, for the log
	trail     *limiter // limits how many of them are stored as events
	sealing   [32]byte // key of this process; encrypts the cookies of pending OIDC logins
	spent     *spent   // those that were used
}

// New reads the auth sections of a configuration. A section with an error is in
// Problems and accepts no login. New connects to nothing.
func New(opt Options) *Auth {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Secrets == nil {
		opt.Secrets = func(...string) {}
	}
	a := &Auth{
		opt: opt, log: opt.Log.Named("auth"), now: opt.Now, providers: map[string]*provider{},
		proxies: opt.Config.Server.Proxies(), failures: newLimiter(2048, 20, 30*time.Second),
		trail: newLimiter(1, 100, time.Minute),
	}
	_, _ = rand.Read(a.sealing[:]) // never fails (crypto/rand)
	a.spent = newSpent()
	a.passwords = newPasswords()
	a.open = !opt.Config.AuthRequired
	for _, c := range opt.Config.Auth {
		a.addMethod(c)
	}
	if !a.open && len(a.passwords.users)+len(a.providers) == 0 {
		a.problems = append(a.problems, config.Problem{Key: "auth", Level: config.Error,
			Message: "nobody can log in, and nobody gets in without",
			Remedy:  "complete auth.basic.{name}.user and .hash, or remove everything of auth to open the server to all"})
	}
	return a
}

// Open reports whether no login is required.
func (a *Auth) Open() bool { return a.open }

// Problems returns what is wrong with the auth sections, for the operator.
func (a *Auth) Problems() []config.Problem { return slices.Clone(a.problems) }

// Method is one login method.
type Method struct {
	Type, Name string
	// Configuration is what was configured, masked.
	Configuration map[string]any
	// Problem is why it accepts no login; "" when it does.
	Problem string

	stamp  []byte        // hash of all its settings
	maxAge time.Duration // of its sessions
}

// ID returns "basic.ana".
func (m Method) ID() string { return m.Type + "." + m.Name }

// Methods returns the configured login methods, or the anonymous one when there is none.
func (a *Auth) Methods() []Method {
	if a.open && len(a.methods) == 0 {
		return []Method{{Type: AnonymousName, Name: AnonymousName, Configuration: map[string]any{}}}
	}
	return slices.Clone(a.methods)
}

// Strategy is a login method as login pages show it.
type Strategy struct {
	Type string
	Name string
	// Redirect lets the page redirect there by itself (oidc).
	Redirect bool
	// LogoutURL is where to log out of the provider; "" when not known.
	LogoutURL string
}

// Strategies returns the methods that work, without duplicates, ordered by name.
func (a *Auth) Strategies() []Strategy {
	list := []Strategy{}
	if a.open {
		list = append(list, Strategy{Type: AnonymousName, Name: "Anonymous"})
	}
	if len(a.passwords.users) > 0 {
		list = append(list, Strategy{Type: "basic", Name: "Login"})
	}
	for name, p := range a.providers {
		list = append(list, Strategy{
			Type: "oidc", Name: name, Redirect: p.options.Redirect, LogoutURL: logoutURL(p.known.Load(), p.options.ClientID, ""),
		})
	}
	slices.SortFunc(list, func(x, y Strategy) int {
		return strings.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name))
	})
	return list
}

// stampOf returns a hash of a method's settings. A session ends when they change.
func stampOf(values any) []byte {
	text, err := json.Marshal(values)
	if err != nil {
		panic(fmt.Sprintf("auth: encode settings: %v", err)) // texts, numbers and lists; cannot fail
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

// Identify returns the caller of a request: by its session cookie, else by the
// credentials it sends. Without either it is the anonymous caller if no login is
// required, and otherwise the zero Identity with no error. The error is
// ErrBadCredentials, ErrBadToken or a *ThrottledError when the credentials are not
// accepted, and any other when the store fails. It may set the session cookie.
func (a *Auth) Identify(w http.ResponseWriter, r *http.Request) (Identity, error) {
	caller, err := a.bySession(w, r)
	if err != nil || caller.Scope > Nothing {
		return caller, err
	}
	caller, err = a.byCredentials(r)
	if caller.Scope == Nothing && a.open {
		return Identity{User: AnonymousName, Method: AnonymousName, Scope: Write, operator: !a.opt.Config.AuthRequired}, nil
	}
	return caller, err
}

func (a *Auth) byCredentials(r *http.Request) (Identity, error) {
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		return a.byToken(r.Context(), strings.TrimSpace(rest))
	case strings.EqualFold(scheme, "Basic"):
		user, password, ok := r.BasicAuth()
		if !ok {
			return Identity{}, ErrBadCredentials
		}
		if IsToken(password) { // for clients that know no bearer tokens
			return a.byToken(r.Context(), password)
		}
		caller, fresh, err := a.byPassword(r, user, password)
		if fresh && err == nil { // not each time: programs send the password with every request
			a.auditRequest(r, event.LoginSucceeded, caller.User, event.Login{Method: caller.Method})
		}
		return caller, err
	case scheme != "":
		return Identity{}, ErrBadCredentials
	}
	return Identity{}, nil
}

// ProviderURL returns the path, below the base path, at which a login at the
// provider of that name begins.
func ProviderURL(name string) string { return "/auth/oidc/" + url.PathEscape(name) + "/redirect" }
