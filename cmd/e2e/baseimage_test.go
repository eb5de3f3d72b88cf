package e2e

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
)

// TestBaseImageIsNotApproved: nobody but who builds an image carries out the update of its base, so that to approve
// it is refused by the command line, which says what to do, and is not offered by the page. It can be skipped.
func TestBaseImageIsNotApproved(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 0, registrysim.Options{})
	f.registries[0].Push("team/node", "22.0.0", "24.0.0")
	labels := map[string]string{"dogwatch.base": f.hosts[0] + "/team/node:22.0.0"}
	f.engine.AddImage(enginesim.Image{ID: "sha256:" + strings.Repeat("7", 64), Tags: []string{"home-web:latest"}})
	_, err := f.engine.Create(enginesim.Container{Name: "web", Image: "home-web:latest", Labels: labels})
	must(t, err)
	in := install(t, f.env()...)
	d := in.start()
	d.waitFor(1)
	c := d.watch()[0]
	if c.Base == nil || !c.UpdateAvailable {
		t.Fatalf("the container is %+v", c)
	}
	at, err := url.Parse(d.url)
	must(t, err)
	in.env = append(slices.Clone(in.env), "DOGWATCH_SERVER_PORT="+at.Port())
	out, said, code := in.run("approve", "web")
	if code != 1 || !strings.Contains(said, "/team/node:22.0.0 of local/web; rebuild the image") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
	_, page := d.request(http.MethodGet, "/containers/local/web", "")
	if strings.Contains(string(page), `value="approve"`) {
		t.Error("the page has a button to approve")
	}
	if out, said, code = in.run("skip", "web"); code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
}
