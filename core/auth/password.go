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
	// From one network a user may be guessed at 10 times at once and then every
	// five minutes, and all users together 30 times and then every 30 s.
	pairBurst, pairPause       = 10, 5 * time.Minute
	networkBurst, networkPause = 30, 30 * time.Second
	// From wherever, a user may be guessed at 100 times (NIST SP 800-63B, section
	// 5.2.2) and then every 30 s. It takes ten networks to use that up and keep it
	// so; networks from which the user has logged in are not concerned.
	userBurst, userPause = 100, 30 * time.Second
	// rememberedLogins is how many verdicts of each kind are remembered, and how many networks.
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
	users    []account
	pairs    *limiter // by user and network
	networks *limiter
	names    *limiter
	hashing  chan struct{} // a semaphore: one password is hashed at a time, for argon2id takes much memory
	key      [32]byte
	seed     maphash.Seed
	memory   *memory
}

type memory struct {
	mu       sync.Mutex
	right    map[[32]byte]int // index of the account
	wrong    map[[32]byte]bool
	networks map[string]bool // pairs of a user and a network from which that user logged in
}

func newPasswords() passwords {
	p := passwords{
		pairs: newLimiter(4096, pairBurst, pairPause), networks: newLimiter(2048, networkBurst, networkPause), names: newLimiter(1024, userBurst, userPause),
		hashing: make(chan struct{}, 1), seed: maphash.MakeSeed(),
		memory: &memory{right: map[[32]byte]int{}, wrong: map[[32]byte]bool{}, networks: map[string]bool{}},
	}
	_, _ = rand.Read(p.key[:]) // never fails (crypto/rand)
	return p
}

// check returns the account that a user and password belong to. fresh tells
// whether that was not known from before. While too many were wrong a right
// password is refused like any other, be it known: else the one that gets in
// among thousands that do not would be found all the same.
func (p *passwords) check(ctx context.Context, network, user, password string, now time.Time) (found account, fresh bool, err error) {
	if user == "" || password == "" || len(password) > maxPassword || len(p.users) == 0 {
		return account{}, false, ErrWrong
	}
	mac := hmac.New(sha256.New, p.key[:])
	mac.Write([]byte(user + "\x00" + password))
	key := [32]byte(mac.Sum(nil))
	known, right, wrong := p.memory.of(key)
	if wrong { // the same again is no guess
		return account{}, false, ErrWrong
	}
	pair := user + "\x00" + network
	use := allowance{{p.pairs, pair}}
	if !p.memory.visited(pair) {
		use = append(use, counted{p.names, user})
	}
	if right {
		if wait := use.wait(now); wait > 0 {
			return account{}, false, &TooManyError{Wait: wait}
		}
		p.memory.visit(pair)
		return p.users[known], false, nil
	}
	use = append(use, counted{p.networks, network})
	if wait := use.take(now); wait > 0 {
		return account{}, false, &TooManyError{Wait: wait}
	}
	select {
	case p.hashing <- struct{}{}:
		defer func() { <-p.hashing }()
	case <-ctx.Done():
		use.giveBack() // nobody learned anything
		return account{}, false, ctx.Err()
	}
	i := p.find(user, password)
	p.memory.keep(key, i)
	if i < 0 {
		return account{}, true, ErrWrong
	}
	use.giveBack()
	p.memory.visit(pair)
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

// visited reports whether a user has logged in from a network.
func (m *memory) visited(pair string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.networks[pair]
}

// visit remembers that a user has logged in from a network.
func (m *memory) visit(pair string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.networks[pair] && len(m.networks) >= rememberedLogins {
		clear(m.networks)
	}
	m.networks[pair] = true
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
	if err == nil {
		return Identity{User: found.user, Method: found.method.ID(), Scope: Manage}, fresh, nil
	}
	var tooMany *TooManyError
	if refused := errors.As(err, &tooMany); fresh || refused {
		subject := nobody
		if a.passwords.knows(user) {
			subject = user
		}
		why := err
		if refused {
			why = errTooMany
		}
		a.failed(r, "basic", subject, why)
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
