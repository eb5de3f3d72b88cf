package update

import (
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestReplacingAStoppedContainer(t *testing.T) {
	stopped := container.Summary{ID: "old", Names: []string{"/web-dogwatch-op1"}, State: container.StateExited}
	var r Predecessors
	op := watcher.Operation{ID: "op1", Plan: watcher.Plan{State: "web=stopped;0"}}
	defer r.Begin(op, map[string]replace.Container{
		"web": {InspectResponse: container.InspectResponse{ContainerJSONBase: &container.ContainerJSONBase{ID: "old"}}},
	})()
	if got := r.Apparent([]container.Summary{stopped}, false); len(got) != 0 {
		t.Errorf("a container that did not run before is listed as %v", got[0].Names)
	}
	if got := r.Apparent([]container.Summary{stopped}, true); len(got) != 1 || engine.Name(got[0]) != "web" {
		t.Errorf("with stopped ones: %v, want web", got)
	}
}
