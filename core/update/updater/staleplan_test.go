package updater

import (
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestOperationWithStalePlanIsPlannedAgain: of two operations of one project the second one
// is planned again before it begins, as the first may have recreated what depends on it.
func TestOperationWithStalePlanIsPlannedAgain(t *testing.T) {
	f := fresh(t)
	for name, c := range f.containers {
		c.Labels = map[string]string{"com.docker.compose.project": "home"}
		f.containers[name] = c
	}
	first, second := f.begin(t, "web"), f.begin(t, "db")
	f.run(t)
	for _, id := range []string{first.ID, second.ID} {
		if op := f.outcome(t, id); op.State != operation.Succeeded {
			t.Errorf("%+v", op)
		}
	}
	if want := []string{"id-web", "id-db", "id-db"}; !slices.Equal(f.engine.planned, want) {
		t.Errorf("planned %v, want %v", f.engine.planned, want)
	}
}

func TestRecreates(t *testing.T) {
	p := watcher.Plan{
		Dependents: []watcher.Dependent{{Name: "torrent", Action: watcher.StepCreate}, {
			Name: "app", Action: watcher.StepRestart,
		}},
	}
	for name, want := range map[string]bool{"torrent": true, "app": false, "vpn": false} {
		if got := recreates(p, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestEndedOperationIsNotBegunAgain: while an operation begins, runs and ends, it may still be
// in a list of queued ones that was read before.
func TestEndedOperationIsNotBegunAgain(t *testing.T) {
	f := fresh(t)
	listed := f.begin(t, "web")
	f.run(t)
	f.outcome(t, listed.ID)
	f.Runner.begin(listed, false)
	f.Runner.work.Wait()
	if op := f.outcome(t, listed.ID); op.State != operation.Succeeded {
		t.Errorf("%+v", op)
	}
	if want := []string{"id-web"}; !slices.Equal(f.engine.planned, want) {
		t.Errorf("planned %v, want %v", f.engine.planned, want)
	}
}
