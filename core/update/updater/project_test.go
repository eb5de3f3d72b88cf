package updater

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/update/operation"
)

// TestProjectOfAnImageDoesNotCount: an intruder would have the updates of a stack wait for its own.
func TestProjectOfAnImageDoesNotCount(t *testing.T) {
	for about, image := range map[string][]string{"": {"com.docker.compose.project"}, "home": nil} {
		f := fresh(t)
		c := f.containers["web"]
		c.Labels, c.ImageLabels = map[string]string{"com.docker.compose.project": "home"}, image
		op, err := f.Start(t.Context(), Request{Container: c, Kind: operation.Update})
		if err != nil || op.Project != about {
			t.Errorf("the project is %q, %v; want %q", op.Project, err, about)
		}
	}
}
