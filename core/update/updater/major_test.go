package updater

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestPlanWarnsOfMajorUpdates of what has data: with what is known of its image, or else of its volumes.
func TestPlanWarnsOfMajorUpdates(t *testing.T) {
	for about, c := range map[string]struct {
		advice  string
		isMajor bool
		volumes []string
		want    string
	}{
		"a database": {"Dump it. See https://example.org", true, []string{"/data"},
			"nginx:1.26.0 is a major update. Dump it. See https://"},
		"without volumes yet": {"Dump it. See https://example.org", true, nil, "Dump it."},
		"another with data":   {"", true, []string{"/data"}, "Back up its volumes first"},
		"without data":        {"", true, nil, ""},
		"a minor update":      {"Dump it.", false, []string{"/data"}, ""},
	} {
		f := fresh(t)
		f.config = &sdk.ImageConfig{Volumes: c.volumes}
		f.Runner.opt.Major = func(sdk.Container) (string, bool) { return c.advice, c.isMajor }
		for kind, want := range map[operation.Kind]string{operation.Update: c.want, operation.Rollback: ""} {
			plan, _ := f.Plan(t.Context(), Request{Container: container("web"), Kind: kind})
			said := ""
			for _, w := range plan.Warnings {
				if w.Code == WarnMajor {
					said += w.Text
				}
			}
			if said == "" != (want == "") || !strings.Contains(said, want) {
				t.Errorf("%s of %s: %q, want %q", kind, about, said, want)
			}
		}
	}
}
