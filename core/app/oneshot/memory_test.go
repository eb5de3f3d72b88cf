package oneshot

import (
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestMemoryStore(t *testing.T) {
	m := newMemory()
	var wait sync.WaitGroup
	for _, id := range []string{"c", "a", "b"} {
		wait.Go(func() {
			change := event.Change{
				Put: []sdk.Container{{ID: id, Watcher: "w", Name: "n-" + id}, {ID: "gone-" + id}}, Remove: []string{},
			}
			if err := m.Commit(t.Context(), change); err != nil {
				t.Error(err)
			}
			if err := m.Commit(t.Context(), event.Change{Remove: []string{"gone-" + id, "unknown"}}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	found, err := m.Containers(t.Context())
	if err != nil || len(found) != 3 || found[0].ID != "a" || found[2].ID != "c" {
		t.Errorf("%+v %v", found, err)
	}
}
