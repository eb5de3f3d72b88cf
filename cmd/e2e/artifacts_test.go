package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestChartsAreNotOffered: a Helm chart beside the images of a repository is read once, and never
// offered.
func TestChartsAreNotOffered(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, registrysim.Options{})
	sim := f.registry(0)
	sim.PushChart(f.repo(0), "1.2.0", "5.0.0")
	sim.Push(f.repo(0), "1.1.0")
	sim.PushChart(f.repo(1), "2.0.0")
	d := install(t, f.env()...).start()
	d.loaded()
	for range 2 {
		for _, c := range get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch") {
			want := ""
			if strings.HasSuffix(c.Image.Name, f.repo(0)) {
				want = "1.1.0"
			}
			wrong := want != "" && (c.Result.Tag != want || c.Result.Levels.Major != nil)
			if c.Check.State != sdk.CheckOK || c.UpdateAvailable != (want != "") || wrong {
				t.Errorf("want %q: %s", want, show(c))
			}
			if want == "" {
				why := get[check.Explanation](d, http.MethodGet, "/api/containers/"+c.ID+"/explain")
				found := false
				for _, v := range why.Tags {
					found = found || v.Tag == "2.0.0" && !v.Kept && v.Detail.String() == "it is no image but a Helm chart"
				}
				if !found {
					t.Errorf("explained by %+v", why.Tags)
				}
			}
		}
	}
	// Three charts of a manifest each, and an image of an index, a manifest and a configuration.
	if got := sim.Counts(); got.Manifests != 3+2 || got.Blobs != 1 || got.Heads != 4 {
		t.Errorf("%+v", got)
	}
	d.stop()
}
