package auth

import (
	"sync"
	"time"
)

// maxSpent bounds how many logins are remembered; those that end first are forgotten first.
const maxSpent = 4096

// spent remembers which pending logins were used, until they end: a copy of the cookie and of
// the redirect is then no use. A restart forgets the key of the cookies instead. Its methods
// may be called concurrently.
type spent struct {
	mu   sync.Mutex
	ends map[string]time.Time // by state
}

func newSpent() *spent { return &spent{ends: map[string]time.Time{}} }

// use reports whether a login is used for the first time.
func (s *spent) use(f flow, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := s.ends[f.State]; again {
		return false
	}
	if len(s.ends) >= maxSpent {
		s.forget(now)
	}
	s.ends[f.State] = f.Ends
	return true
}

// forget drops the logins that have ended, and else the one that ends first.
func (s *spent) forget(now time.Time) {
	first := ""
	for state, ends := range s.ends {
		switch {
		case now.After(ends):
			delete(s.ends, state)
		case first == "" || ends.Before(s.ends[first]):
			first = state
		}
	}
	if len(s.ends) >= maxSpent {
		delete(s.ends, first)
	}
}
