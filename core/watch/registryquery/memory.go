package registryquery

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// memory remembers up to max values, as long as the process lives. When there are more it forgets all of them: what is
// forgotten costs a request at most. It may be used concurrently.
type memory[K comparable, V any] struct {
	max    int
	mu     sync.Mutex
	values map[K]V
}

func (m *memory[K, V]) get(key K) (value V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, known = m.values[key]
	return value, known
}

func (m *memory[K, V]) put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil || len(m.values) >= m.max {
		m.values = map[K]V{}
	}
	m.values[key] = value
}

const (
	// maxAbsent, maxDescribed and maxReleases bound what is remembered.
	maxAbsent    = 1000
	maxDescribed = 32
	maxReleases  = 10_000
)

// absence is why a registry does not have a manifest, and until when it is not asked again: an index without an image
// for a platform, or a digest that was deleted. What a digest names does not change, and each request for it may count
// as a pull.
type absence struct {
	err   error
	until time.Time
}

// describedList is what a registry said of the newest tags of a repository, see registry.TagDescriber.
type describedList struct {
	tags    []registry.DescribedTag // none when the registry could not tell
	fetched time.Time
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

// hourly counts requests to hosts within the last hour. It may be used concurrently.
type hourly struct {
	mu     sync.Mutex
	byHost map[string][]time.Time
}

// take counts a request, and reports whether there were fewer than most in the last hour.
func (h *hourly) take(host string, most int, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byHost == nil {
		h.byHost = map[string][]time.Time{}
	}
	lately := slices.DeleteFunc(h.byHost[host], func(at time.Time) bool { return now.Sub(at) >= time.Hour })
	allowed := len(lately) < most
	if allowed {
		lately = append(lately, now)
	}
	h.byHost[host] = lately
	return allowed
}

// cached reads what is kept in the cache under a key. What cannot be read is found out again.
func cached[T any](ctx context.Context, cache Cache, key string) (value T, found bool) {
	_, body, found := cache.Get(ctx, key)
	return value, found && json.Unmarshal(body, &value) == nil
}

// keep keeps something in the cache under a key.
func (cl *Client) keep(ctx context.Context, key string, value any) {
	if body, err := json.Marshal(value); err == nil {
		cl.opt.Cache.Put(ctx, key, "", body)
	}
}
