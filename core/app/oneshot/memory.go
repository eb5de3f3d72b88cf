package oneshot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// memory is the store of a command: what was found lives as long as the process.
type memory struct {
	mu         sync.Mutex
	containers map[string]sdk.Container
}

func newMemory() *memory { return &memory{containers: map[string]sdk.Container{}} }

// Containers returns all containers by watcher, name and id.
func (m *memory) Containers(context.Context) ([]sdk.Container, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.containers), func(a, b sdk.Container) int {
		return cmp.Or(strings.Compare(a.Watcher, b.Watcher), strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	}), nil
}

// Commit applies a change; its events are dropped.
func (m *memory) Commit(_ context.Context, change event.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range change.Remove {
		delete(m.containers, id)
	}
	for _, c := range change.Put {
		m.containers[c.ID] = c
	}
	return nil
}

// Get implements registryquery.Cache and finds nothing: a command makes each request once anyway.
func (m *memory) Get(context.Context, string) (string, []byte, bool) { return "", nil, false }

// Put implements registryquery.Cache.
func (m *memory) Put(context.Context, string, string, []byte) {}
