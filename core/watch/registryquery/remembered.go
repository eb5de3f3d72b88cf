package registryquery

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
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

// described keeps what registries said of the tags of repositories, see registry.TagDescriber.
type described struct {
	mu    sync.Mutex
	lists map[string]describedList
}

type describedList struct {
	tags []registry.DescribedTag // none when the registry could not tell
	at   time.Time
}

const (
	// maxResults bounds what is remembered.
	maxResults = 10_000
	// datesPerHour is how many dates are fetched from a host that does not say what it allows.
	datesPerHour = 30
)

// releases remembers what was read of releases, and how much was read of each host. It may be used concurrently.
type releases struct {
	mu      sync.Mutex
	results map[candidate.Release]reading
	// asked has the times of requests within the last hour, by host, while the host did not say what it allows.
	asked map[string][]time.Time
}

// reading is what came of reading a release.
type reading struct {
	created sdk.Time // zero when there is no date
	// retry is when a release without a date may be read again; zero for never.
	retry time.Time
	// artifact is the type of what is no image.
	artifact string
	// digest is what was behind the tag, version what the image says of its version.
	digest, version string
}

func newReleases() releases {
	return releases{results: map[candidate.Release]reading{}, asked: map[string][]time.Time{}}
}

func (k *releases) get(r candidate.Release) (result reading, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	result, known = k.results[r]
	return result, known
}

func (k *releases) put(r candidate.Release, result reading) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.results) >= maxResults { // what is forgotten costs a request at most
		clear(k.results)
	}
	k.results[r] = result
}

// take counts a request to a host that does not say what it allows, and reports whether it is not one too many.
func (k *releases) take(host string, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	lately := slices.DeleteFunc(k.asked[host], func(at time.Time) bool { return now.Sub(at) >= time.Hour })
	if len(lately) < datesPerHour {
		k.asked[host] = append(lately, now)
		return true
	}
	k.asked[host] = lately
	return false
}
