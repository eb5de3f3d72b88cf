package oneshot

import (
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/testrun"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestMemoryStore(t *testing.T) {
	m := newMemory()
	var wait sync.WaitGroup
	for _, id := range []string{"c", "a", "b"} {
		wait.Go(func() {
			change := event.Change{Put: []sdk.Container{{ID: id, Watcher: "w", Name: "n-" + id}, {ID: "gone-" + id}}, Remove: []string{}}
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

// TestSample: both containers of the sample differ in what identifies them.
func TestSample(t *testing.T) {
	sample := testrun.Sample()
	if len(sample) != 2 || sample[0].ID == sample[1].ID || sample[0].Name == sample[1].Name {
		t.Errorf("%+v", sample)
	}
	for _, c := range sample {
		if !c.UpdateAvailable || c.Result == nil || c.Result.Tag != c.UpdateKind.RemoteValue || len(c.ID) != 64 {
			t.Errorf("%+v", c)
		}
	}
}
