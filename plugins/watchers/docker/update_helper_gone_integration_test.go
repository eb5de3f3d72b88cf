package docker

import (
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestRecoverWithoutItsHelper: the helper container was removed once it had created the new
// container, and had said so, and that it stops the old one, in which this process runs.
func TestRecoverWithoutItsHelper(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id := l.make(t, "web", "app:1", shape{}, true)
	req := l.request(id)
	op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
	handover := watcher.Step{ID: watcher.StepHandover, Code: watcher.StepHandover, Text: "hand over"}
	op.Plan.Steps = []watcher.Step{handover}
	check(t, l.API.ContainerRename(t.Context(), "web", replace.Backup("web", op.ID)))
	latest := l.make(t, "web", "app:2", shape{}, false)
	op.Steps = []watcher.StepRecord{
		{Step: handover},
		{Step: watcher.Step{ID: "rename:web", Code: watcher.StepRename, Container: "web"}, Ended: true},
		{
			Step: watcher.Step{ID: "create:web", Code: watcher.StepCreate, Container: "web"}, Ended: true,
			Facts: map[string]string{"new": latest},
		},
		{Step: watcher.Step{ID: "stop:web", Code: watcher.StepStop, Container: "web"}},
	}
	started := l.inspect(t, id).State.StartedAt
	out, err := l.docker.Recover(t.Context(), op, &journal{steps: op.Steps})
	check(t, err)
	if out.State != watcher.RolledBack {
		t.Errorf("%+v", out)
	}
	l.only(t, "web", l.old)
	if again := l.inspect(t, "web").State.StartedAt; again != started {
		t.Errorf("it was started at %s, and again at %s", started, again)
	}
}
