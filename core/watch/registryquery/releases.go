package registryquery

import (
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxResults bounds what is remembered.
const maxResults = 10_000

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
