package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// proxied is an installation behind a proxy, so that a test can be at any address.
func proxied(t *testing.T) *testServer {
	t.Helper()
	return start(t, append(ana, "DOGWATCH_SERVER_TRUSTEDPROXIES=192.0.2.1")...)
}

// from logs in with every request from an address.
func (w *testServer) from(address, user, password string) error {
	w.t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "192.0.2.1:1"
	r.Header.Set("X-Forwarded-For", address)
	r.SetBasicAuth(user, password)
	caller, err := w.auth.Identify(httptest.NewRecorder(), r)
	if err == nil && caller.User != user {
		w.t.Errorf("%s is %+v", user, caller)
	}
	return err
}

// TestThrottlingOfOneNetworkSparesOthers: guesses from one network do not lock the
// user out of any other.
func TestThrottlingOfOneNetworkSparesOthers(t *testing.T) {
	for name, guesser := range map[string]func(i int) string{
		"one address":      func(int) string { return "203.0.113.9" },
		"one IPv6 network": func(i int) string { return fmt.Sprintf("2001:db8::%x:1", i+1) },
	} {
		t.Run(name, func(t *testing.T) {
			w := proxied(t)
			checked := 0
			for i := range 6000 { // sixteen hours
				w.pass(10 * time.Second)
				if err := w.from(guesser(i), "ana", fmt.Sprint("guess ", i)); errors.Is(err, ErrBadCredentials) {
					checked++
				}
				if i%1000 == 999 {
					if err := w.from(fmt.Sprintf("198.51.100.%d", i/1000), "ana", password); err != nil {
						t.Fatalf("after %d guesses from elsewhere: %v", i+1, err)
					}
				}
			}
			if most := pairBurst + int(6000*10*time.Second/pairPause); checked > most {
				t.Errorf("%d guesses were checked, want %d at most", checked, most)
			}
		})
	}
}

// TestThrottlingOfUserFromManyNetworks: all networks together guess no faster than
// userPause allows. Networks from which the user has logged in are exempt.
func TestThrottlingOfUserFromManyNetworks(t *testing.T) {
	w := proxied(t)
	if err := w.from("198.51.100.1", "ana", password); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for i := range 1000 {
		w.pass(time.Second)
		err := w.from(fmt.Sprintf("203.0.%d.%d", i/250, i%250), "ana", fmt.Sprint("guess ", i))
		if errors.Is(err, ErrBadCredentials) {
			checked++
		}
	}
	if most := userBurst + int(1000*time.Second/userPause); checked > most || checked < userBurst {
		t.Errorf("%d guesses were checked, want %d at most", checked, most)
	}
	if err := w.from("198.51.100.1", "ana", password); err != nil {
		t.Errorf("from where the user has been before: %v", err)
	}
	// The right password among the guesses is no way in, be it known to be right.
	if err := w.from("203.0.113.77", "ana", password); !tooMany(err) {
		t.Errorf("from somewhere new: %v", err)
	}
}

// TestThrottlingRefusesCachedPassword: a password that was right before does
// not be accepted from a network that is throttled.
func TestThrottlingRefusesCachedPassword(t *testing.T) {
	w := proxied(t)
	if err := w.from("198.51.100.1", "ana", password); err != nil {
		t.Fatal(err)
	}
	for i := range pairBurst {
		_ = w.from("203.0.113.9", "ana", fmt.Sprint("guess ", i))
	}
	if err := w.from("203.0.113.9", "ana", password); !tooMany(err) {
		t.Errorf("the right one among the guesses: %v", err)
	}
	if err := w.from("198.51.100.1", "ana", password); err != nil {
		t.Errorf("from the user's own network: %v", err)
	}
}

// TestThrottledLoginsAreSampledInLog: fail2ban must see attempts that continue, and
// the log and the store must not grow with every guess.
func TestThrottledLoginsAreSampledInLog(t *testing.T) {
	w := proxied(t)
	const guesses = 5000
	for i := range guesses {
		w.pass(100 * time.Millisecond)
		_ = w.from("203.0.113.9", "ana", fmt.Sprint("guess ", i))
	}
	w.pass(time.Minute)
	_ = w.from("203.0.113.9", "ana", "the last guess")
	var lines, stands int
	for line := range strings.Lines(w.log.String()) {
		if !strings.Contains(line, "auth.failed") || !strings.Contains(line, "address=203.0.113.9") {
			continue
		}
		lines, stands = lines+1, stands+1
		var attempts int
		if at := strings.Index(line, "attempts="); at >= 0 {
			_, _ = fmt.Sscanf(line[at:], "attempts=%d", &attempts)
			stands += attempts - 1
		}
	}
	if lines < 25 || lines > 60 || stands != guesses+1 {
		t.Errorf("%d lines stand for %d attempts, want %d", lines, stands, guesses+1)
	}
	if n := w.events("auth.failed"); n != lines {
		t.Errorf("%d events, %d lines", n, lines)
	}
}

// counting is a hash that notes how many passwords are hashed at a time.
type counting struct {
	mu        sync.Mutex
	now, most int
	started   chan struct{}
	release   chan struct{}
}

func (c *counting) plain() bool { return false }

func (c *counting) matches(string) bool {
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	c.started <- struct{}{}
	<-c.release
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	return false
}

// TestPasswordHashingIsSerialized: argon2id takes much memory for each.
func TestPasswordHashingIsSerialized(t *testing.T) {
	p := newPasswords()
	h := &counting{started: make(chan struct{}, 8), release: make(chan struct{})}
	p.users = []account{{user: "ana", hash: h}}
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			_, _, _ = p.check(t.Context(), fmt.Sprint("network ", i), "ana", fmt.Sprint("guess ", i), time.Now())
		})
	}
	<-h.started
	time.Sleep(50 * time.Millisecond) // for the others to come in, if they can
	close(h.release)
	wait.Wait()
	if h.most != 1 {
		t.Errorf("%d passwords are hashed at a time", h.most)
	}
}

// TestCancelledLoginIsNotCounted: a client that disconnects while it waits for the
// hash semaphore neither fails nor uses up an attempt.
func TestCancelledLoginIsNotCounted(t *testing.T) {
	w := proxied(t)
	w.auth.passwords.hashing <- struct{}{} // busy
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 5 * pairBurst {
		r := httptest.NewRequestWithContext(gone, http.MethodGet, "/", nil)
		r.RemoteAddr = "203.0.113.9:1"
		r.SetBasicAuth("ana", fmt.Sprint("guess ", i))
		if _, err := w.auth.Identify(httptest.NewRecorder(), r); !errors.Is(err, context.Canceled) ||
			errors.Is(err, ErrBadCredentials) || tooMany(err) {
			t.Fatalf("cancelled login %d: %v", i, err)
		}
	}
	<-w.auth.passwords.hashing
	if n := w.events("auth.failed"); n != 0 {
		t.Errorf("%d failed logins are recorded", n)
	}
	if err := w.from("203.0.113.9", "ana", password); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestOIDCForeignCallbackIsNotCounted: any page can make browsers request
// the address to which providers redirect.
func TestOIDCForeignCallbackIsNotCounted(t *testing.T) {
	w, m := startProvider(t, ana...)
	for i := range 3 * networkBurst {
		got := w.get(w.browser(), fmt.Sprintf("/auth/oidc/home/cb?code=x&state=%d", i))
		if !strings.Contains(got, "did not begin") {
			t.Fatalf("callback %d: %s", i, got)
		}
	}
	if n := w.events("auth.failed"); n != 0 || strings.Contains(w.log.String(), "auth.failed") {
		t.Errorf("%d failed logins are recorded, for which fail2ban would ban the client", n)
	}
	same(t, "login at the provider",
		w.loginAtProvider(w.browser(), m, &providerUser{
			subject: "1", claims: map[string]any{"email": "ana@example.org"},
		}), "ana@example.org oidc.home manage")
	same(t, "login with a password", w.login(w.browser(), "ana", password), "ana basic.main manage")
}
