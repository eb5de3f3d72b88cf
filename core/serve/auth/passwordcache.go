package auth

import "sync"

// maxCached is how many verdicts of each kind are cached, and how many networks.
const maxCached = 256

// passwordCache remembers verdicts about passwords by their MAC, so that clients
// that send a password with every request do not cost a hash each time. Its
// methods may be called concurrently.
type passwordCache struct {
	mu       sync.Mutex
	right    map[[32]byte]int // index of the account
	wrong    map[[32]byte]bool
	networks map[string]bool // pairs of a user and a network from which that user logged in
}

func (c *passwordCache) find(key [32]byte) (i int, right, wrong bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, right = c.right[key]
	return i, right, c.wrong[key]
}

// seen reports whether a user has logged in from a network before.
func (c *passwordCache) seen(pair string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.networks[pair]
}

// markSeen remembers that a user has logged in from a network.
func (c *passwordCache) markSeen(pair string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.networks[pair] && len(c.networks) >= maxCached {
		clear(c.networks)
	}
	c.networks[pair] = true
}

// keep caches a verdict: the index of an account, or -1. A full cache is cleared,
// which only costs time.
func (c *passwordCache) keep(key [32]byte, i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case i < 0 && len(c.wrong) >= maxCached:
		clear(c.wrong)
	case i >= 0 && len(c.right) >= maxCached:
		clear(c.right)
	}
	if i < 0 {
		c.wrong[key] = true
	} else {
		c.right[key] = i
	}
}
