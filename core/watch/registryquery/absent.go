package registryquery

import (
	"maps"
	"sync"
	"time"
)

const (
	// absentFor is for how long a registry is not asked again for what a digest does not have.
	absentFor = 6 * time.Hour
	// maxAbsent bounds what is remembered.
	maxAbsent = 1000
)

// absent remembers which manifests registries do not have, and why: indexes without an
// image for a platform, and digests that were deleted. What a digest names does not
// change, and each request for it may count as a pull. It may be used concurrently.
type absent struct {
	mu    sync.Mutex
	known map[string]absence
}

type absence struct {
	err   error
	until time.Time
}

// get returns the error that the last request for a key had; nil when it is to be made.
func (a *absent) get(key string, now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if found := a.known[key]; now.Before(found.until) {
		return found.err
	}
	return nil
}

func (a *absent) put(key string, err error, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[string]absence{}
	}
	maps.DeleteFunc(a.known, func(_ string, old absence) bool { return !now.Before(old.until) })
	if len(a.known) >= maxAbsent { // what is forgotten costs a request at most
		clear(a.known)
	}
	a.known[key] = absence{err: err, until: now.Add(absentFor)}
}
