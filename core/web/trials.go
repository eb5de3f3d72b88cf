package web

import (
	"sync"
	"time"
)

// trialKept is for how long the page of a component shows how it was tried last.
const trialKept = 10 * time.Minute

// trials are how components were tried last, by their keys: the page that shows
// it is another than the one that tried, so that reloading it tries nothing. The
// zero trials are ready; their methods may be called concurrently.
type trials struct {
	mu   sync.Mutex
	last map[string]tried
}

type tried struct {
	at    time.Time
	image string
	trial *trialView
}

func (t *trials) keep(key string, last tried) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[string]tried{}
	}
	t.last[key] = last
}

// of returns how a component was tried last; nothing when that is too long ago.
func (t *trials) of(key string, now time.Time) tried {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last[key]
	if now.Sub(last.at) > trialKept {
		delete(t.last, key)
		return tried{}
	}
	return last
}
