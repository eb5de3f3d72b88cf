package docker

import (
	"maps"
	"slices"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestPredecessorIsListedUnderItsNameUntilItIsReplaced, and as it is called after the
// operation. A container of a user whose name looks like that of a backup is not touched.
func TestPredecessorIsListedUnderItsNameUntilItIsReplaced(t *testing.T) {
	e := enginesim.New(enginesim.Config{APIVersion: "1.41"})
	e.AddImage(enginesim.Image{Tags: []string{"nginx:1.25"}})
	old := create(t, e, enginesim.Container{Name: "web-dogwatch-op1", Image: "nginx:1.25"})
	create(t, e, enginesim.Container{Name: "home-dogwatch-1", Image: "nginx:1.25"})
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
	expect := func(when string, want map[string]string) {
		t.Helper()
		got := list(t, d)
		if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, slices.Sorted(maps.Keys(want))) {
			t.Errorf("%s: listed %v, want %v", when, names, want)
		}
		for name, id := range want {
			if id != "" && got[name].ID != id {
				t.Errorf("%s: %s is %s, want %s", when, name, got[name].ID, id)
			}
		}
	}
	expect("before", map[string]string{"home-dogwatch-1": "", "web-dogwatch-op1": old})

	end := d.predecessors.Begin(watcher.Operation{ID: "op1"}, map[string]replace.Container{
		"web": {InspectResponse: container.InspectResponse{ContainerJSONBase: &container.ContainerJSONBase{ID: old}}},
	})
	expect("renamed", map[string]string{"home-dogwatch-1": "", "web": old})
	next := create(t, e, enginesim.Container{Name: "web", Image: "nginx:1.25"})
	expect("replaced", map[string]string{"home-dogwatch-1": "", "web": next})
	check(t, e.Stop("web-dogwatch-op1"))
	check(t, e.Stop("web"))
	expect("between old and new", map[string]string{"home-dogwatch-1": "", "web": old})
	check(t, e.Start("web"))
	expect("started", map[string]string{"home-dogwatch-1": "", "web": next})
	check(t, e.Start("web-dogwatch-op1"))
	end()
	expect("ended", map[string]string{"home-dogwatch-1": "", "web": next, "web-dogwatch-op1": old})
}
