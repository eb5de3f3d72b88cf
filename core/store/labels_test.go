package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestOldContainersHaveUnattributedLabels: a file of an earlier Dogwatch does not say
// which labels the images bring.
func TestOldContainersHaveUnattributedLabels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	saved, err := os.ReadFile("testdata/v15.db")
	must(t, err)
	must(t, os.WriteFile(path, saved, 0o600))
	r, found := open(t, path).Snapshot().Named("local", "web")
	if !found || len(r.Container.Labels) == 0 || !slices.Equal(r.Container.ImageLabels, []string{label.Unattributed}) {
		t.Errorf("%t, %v, %v", found, r.Container.Labels, r.Container.ImageLabels)
	}
}

func TestImageLabelsAreStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path)
	c := container("local", "web", "1")
	c.Labels, c.ImageLabels = map[string]string{"a": "1", "b": "2"}, []string{"b"}
	must(t, s.Commit(t.Context(), event.Change{Put: []sdk.Container{c}}))
	must(t, s.Close())
	r, found := open(t, path).Snapshot().Named("local", "web")
	if !found || !slices.Equal(r.Container.ImageLabels, c.ImageLabels) {
		t.Errorf("%t, %v", found, r.Container.ImageLabels)
	}
}
