package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash/maphash"
	"net/http"
	"sync"
	"time"
)

const (
	// maxPassword bounds what is hashed.
	maxPassword = 1024
	// An address may guess 10 times at once and then every 30 s, a user be guessed
	// at 30 times and then every minute, from wherever.
	addressBurst, addressPause = 10, 30 * time.Second
	userBurst, userPause       = 30, time.Minute
	// rememberedLogins is how many verdicts of each kind are remembered.
	rememberedLogins = 256
)

// account is a configured user.
type account struct {
	user   string
	hash   hash
	method Method
}

// passwords checks passwords. What was checked is remembered under a key of
// this process, never stored: clients send their password with every request,
// every few seconds for years, and those with a wrong one too.
type passwords struct {
	users     []account
	addresses *limiter
	names     *limiter
	turn      chan struct{} // one password is hashed at a time, for argon2id takes much memory
	key       [32]byte
	seed      maphash.Seed
	memory    *memory
}

type memory struct {
	mu    sync.Mutex
	right map[[32]byte]int // index of the account
	wrong map[[32]byte]bool
}

func newPasswords() passwords {
	p := passwords{
		addresses: newLimiter(2048, addressBurst, addressPause), names: newLimiter(512, userBurst, userPause),
		turn: make(chan struct{}, 1), seed: maphash.MakeSeed(),
		memory: &memory{right: map[[32]byte]int{}, wrong: map[[32]byte]bool{}},
	}
	_, _ = rand.Read(p.key[:]) // never fails (crypto/rand)
	return p
}

// check returns the account that a user and password belong to. fresh tells
// whether that was not known from before.
func (p *passwords) check(ctx context.Context, address, user, password string, now time.Time) (found account, fresh bool, err error) {
	if user == "" || password == "" || len(password) > maxPassword || len(p.users) == 0 {
		return account{}, false, ErrWrong
	}
	mac := hmac.New(sha256.New, p.key[:])
	mac.Write([]byte(user + "\x00" + password))
	key := [32]byte(mac.Sum(nil))
	switch i, right, wrong := p.memory.of(key); {
	case right:
		return p.users[i], false, nil
	case wrong: // the same again is no guess
		return account{}, false, ErrWrong
	}
	if wait := p.addresses.take(address, now); wait > 0 {
		return account{}, false, &TooManyError{Wait: wait}
	}
	if wait := p.names.take(user, now); wait > 0 {
		return account{}, false, &TooManyError{Wait: wait}
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return account{}, false, ctx.Err()
	}
	i := p.find(user, password)
	p.memory.keep(key, i)
	if i < 0 {
		return account{}, true, ErrWrong
	}
	p.addresses.giveBack(address)
	p.names.giveBack(user)
	return p.users[i], true, nil
}

// find returns the index of the account, or -1. A user that does not exist
// takes as long as one that does: always the same one of those.
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

func (p *passwords) knows(user string) bool {
	for _, u := range p.users {
		if u.user == user {
			return true
		}
	}
	return false
}

func (m *memory) of(key [32]byte) (i int, right, wrong bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, right = m.right[key]
	return i, right, m.wrong[key]
}

// keep remembers a verdict. A full memory starts afresh, which only costs time.
func (m *memory) keep(key [32]byte, i int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case i < 0 && len(m.wrong) >= rememberedLogins:
		clear(m.wrong)
	case i >= 0 && len(m.right) >= rememberedLogins:
		clear(m.right)
	}
	if i < 0 {
		m.wrong[key] = true
	} else {
		m.right[key] = i
	}
}

// byPassword returns whom a user and password of a request stand for. fresh
// tells whether that was not known from before. Failures are recorded.
func (a *Auth) byPassword(r *http.Request, user, password string) (who Identity, fresh bool, err error) {
	found, fresh, err := a.passwords.check(r.Context(), a.bucket(r), user, password, a.now())
	var tooMany *TooManyError
	switch {
	case err == nil:
		return Identity{User: found.user, Method: found.method.ID(), Scope: Manage}, fresh, nil
	case errors.As(err, &tooMany):
		a.log.Debug("did not look at a login", "address", a.Address(r), "error", err)
	case fresh && a.passwords.knows(user):
		a.failed(r, "basic", user, err)
	case fresh:
		a.failed(r, "basic", nobody, err)
	}
	return Identity{}, fresh, err
}

// Login checks a user and password and begins a session, with a new id, in
// place of the one that the request may have. keep is whether it is to outlive
// the browser's being closed. The errors are those of Identify.
func (a *Auth) Login(w http.ResponseWriter, r *http.Request, user, password string, keep bool) (Identity, error) {
	who, _, err := a.byPassword(r, user, password)
	if err != nil {
		return who, err
	}
	return a.begin(w, r, who, keep)
}
