package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash/maphash"
	"net/http"
	"time"
)

const (
	// maxPassword bounds what is hashed.
	maxPassword = 1024
	// Login throttling: from one network a user's password may be guessed 10 times
	// at once and then every five minutes, and those of all users together 30 times
	// and then every 30 s.
	pairBurst, pairPause       = 10, 5 * time.Minute
	networkBurst, networkPause = 30, 30 * time.Second
	// From all networks together, a user's password may be guessed 100 times (NIST
	// SP 800-63B, section 5.2.2) and then every 30 s. It takes ten networks to use
	// that up. Networks from which the user has logged in are exempt, so that
	// guessing does not lock the user out.
	userBurst, userPause = 100, 30 * time.Second
)

// account is a configured user.
type account struct {
	user   string
	hash   hash
	method Method
}

// passwords checks passwords, with a rate limit (login throttling). Verdicts are
// cached under a key of this process, never stored: clients send their password
// with every request, and those with a wrong one do too.
type passwords struct {
	users    []account
	pairs    *limiter // by user and network
	networks *limiter
	names    *limiter
	hashing  chan struct{} // a semaphore: one password is hashed at a time, for argon2id takes much memory
	key      [32]byte
	seed     maphash.Seed
	cache    *passwordCache
}

func newPasswords() passwords {
	p := passwords{
		pairs: newLimiter(4096, pairBurst, pairPause), networks: newLimiter(2048, networkBurst, networkPause),
		names:   newLimiter(1024, userBurst, userPause),
		hashing: make(chan struct{}, 1), seed: maphash.MakeSeed(),
		cache: &passwordCache{right: map[[32]byte]int{}, wrong: map[[32]byte]bool{}, networks: map[string]bool{}},
	}
	_, _ = rand.Read(p.key[:]) // never fails (crypto/rand)
	return p
}

// check returns the account that a user and password belong to. fresh is whether
// the verdict is not from the cache. While a client is throttled a right password
// is refused like a wrong one, cached or not: otherwise guesses beyond the limit
// would still find it. The error is ErrBadCredentials, a *ThrottledError or that
// of ctx.
func (p *passwords) check(
	ctx context.Context, network, user, password string, now time.Time,
) (found account, fresh bool, err error) {
	if user == "" || password == "" || len(password) > maxPassword || len(p.users) == 0 {
		return account{}, false, ErrBadCredentials
	}
	mac := hmac.New(sha256.New, p.key[:])
	mac.Write([]byte(user + "\x00" + password))
	key := [32]byte(mac.Sum(nil))
	known, right, wrong := p.cache.find(key)
	if wrong { // repeating a wrong password is no new guess
		return account{}, false, ErrBadCredentials
	}
	pair := user + "\x00" + network
	use := allowance{{p.pairs, pair}}
	if !p.cache.seen(pair) {
		use = append(use, keyedLimit{p.names, user})
	}
	if right {
		if wait := use.wait(now); wait > 0 {
			return account{}, false, &ThrottledError{Wait: wait}
		}
		p.cache.markSeen(pair)
		return p.users[known], false, nil
	}
	use = append(use, keyedLimit{p.networks, network})
	if wait := use.take(now); wait > 0 {
		return account{}, false, &ThrottledError{Wait: wait}
	}
	select {
	case p.hashing <- struct{}{}:
		defer func() { <-p.hashing }()
	case <-ctx.Done():
		use.refund() // the client learned nothing
		return account{}, false, ctx.Err()
	}
	i := p.find(user, password)
	p.cache.keep(key, i)
	if i < 0 {
		return account{}, true, ErrBadCredentials
	}
	use.refund()
	p.cache.markSeen(pair)
	return p.users[i], true, nil
}

// find returns the index of the account, or -1. An unknown user takes as long as
// a known one: the password is compared with the hash of an account that depends
// on the name alone.
func (p *passwords) find(user, password string) int {
	known := false
	for i, u := range p.users {
		if u.user != user {
			continue
		}
		known = true
		if u.hash.matches(password) {
			return i
		}
	}
	if !known {
		like := maphash.String(p.seed, user) % uint64(len(p.users))
		p.users[like].hash.matches(password)
	}
	return -1
}

// of returns the account of a user; nil when there is none.
func (p *passwords) of(user string) *account {
	for i := range p.users {
		if p.users[i].user == user {
			return &p.users[i]
		}
	}
	return nil
}

// byPassword identifies the caller by the user and password of a request. fresh
// is whether the verdict is not from the cache. Failures are recorded.
func (a *Auth) byPassword(r *http.Request, user, password string) (caller Identity, fresh bool, err error) {
	found, fresh, err := a.passwords.check(r.Context(), a.rateKey(r), user, password, a.now())
	if err == nil {
		return Identity{User: userName(found.user, found.method.ID()), Method: found.method.ID(), Scope: Manage}, fresh, nil
	}
	var tooMany *ThrottledError
	if refused := errors.As(err, &tooMany); fresh || refused {
		subject, method := unknownUser, "basic" // nobody knows which of several a stranger meant
		if known := a.passwords.of(user); known != nil {
			subject, method = user, known.method.ID()
		}
		why := err
		if refused {
			why = errThrottled
		}
		a.auditFailure(r, method, subject, why)
	}
	return Identity{}, fresh, err
}

// Login checks a user and password and begins a session with a new id, which
// replaces that of the request (session fixation). keep is whether the session
// outlives the browser. It sets the session cookie. The errors are those of Identify.
func (a *Auth) Login(w http.ResponseWriter, r *http.Request, user, password string, keep bool) (Identity, error) {
	caller, _, err := a.byPassword(r, user, password)
	if err != nil {
		return caller, err
	}
	return a.startSession(w, r, caller, keep)
}
