package docker

import (
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestPodmanIsRefused by name, in the plan and when an operation is carried out.
func TestPodmanIsRefused(t *testing.T) {
	t.Parallel()
	engine := dockertest.StartPodman(t)
	engine.Image(t, "localhost/app:1")
	latest := engine.Image(t, "localhost/app:2", "LABEL version=2")
	id := engine.Create(t, "web", "localhost/app:1", nil)
	d := watch(t, Options{Connection: Connection{Socket: engine.Host}, Update: true})
	req := watcher.UpdateRequest{ContainerID: id, Image: watcher.TargetImage{Reference: "localhost/app:2", ID: latest}}
	plan, err := d.Plan(t.Context(), req)
	check(t, err)
	if !slices.ContainsFunc(plan.Blocks, func(r watcher.Reason) bool { return r.Code == replace.BlockPodman }) {
		t.Errorf("blocks %+v", plan.Blocks)
	}
	out, err := d.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
	check(t, err)
	if out.State != watcher.Unchanged || out.Reason.Code != replace.BlockPodman {
		t.Errorf("%+v", out)
	}
}
