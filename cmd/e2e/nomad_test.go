package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/nomad/nomadtest"
)

// TestNomadUpdate: a job is updated on request, by a process that is killed meanwhile, returned by a user, and reverted
// where the new image fails; the page says so in the language of its reader.
func TestNomadUpdate(t *testing.T) {
	t.Parallel()
	registry := registrysim.New(registrysim.Options{})
	registry.Push("team/app", "1.0.0")
	registry.Push("team/app", "1.1.0")
	sim := httptest.NewServer(registry)
	t.Cleanup(sim.Close)
	at, err := url.Parse(sim.URL)
	must(t, err)
	old, new := at.Host+"/team/app:1.0.0", at.Host+"/team/app:1.1.0"
	s := nomadtest.New(t)
	s.Put(t, fmt.Sprintf(`{"ID": "shop", "Namespace": "default", "Type": "service", "TaskGroups": [
		{"Name": "shop", "Count": 1, "Tasks": [{"Name": "shop", "Driver": "docker", "Config": {"image": %q}}]}]}`, old))
	works := nomadtest.Rollout{Deployment: "successful", Allocations: []nomadtest.Object{nomadtest.Running()}}
	next := make(chan nomadtest.Rollout, 1)
	s.RollOut = func(nomadtest.Object) nomadtest.Rollout {
		select {
		case r := <-next:
			return r
		default:
			return works
		}
	}
	in := install(t, "DOGWATCH_WATCHER_NOMAD_HOME_URL="+s.URL, "DOGWATCH_WATCHER_NOMAD_HOME_TOKEN=s3cret-of-nomad",
		"DOGWATCH_WATCHER_NOMAD_HOME_UPDATE=true", "DOGWATCH_REGISTRY_CUSTOM_SIM_URL="+sim.URL)
	d := in.start()
	d.watch()
	runs := func(id string, state operation.State, image string) {
		t.Helper()
		if op := d.ended(id); op.State != state || nomadtest.Image(s.Job("default/shop")) != image {
			t.Errorf("%s, and the job has %s: want %s with %s", says(op), nomadtest.Image(s.Job("default/shop")), state, image)
		}
	}
	if p := d.plan("default_shop"); len(p.Blocks) > 0 {
		t.Errorf("blocked: %+v", p.Blocks)
	}

	next <- nomadtest.Rollout{Deployment: "running", Allocations: []nomadtest.Object{{"ClientStatus": "pending"}}}
	id := d.begin("update", "default_shop").ID
	eventually(t, "the job is watched", func() bool {
		steps := d.operation(id).Steps
		return len(steps) > 1
	})
	must(t, d.cmd.Process.Kill())
	d.exit()
	s.Work("default/shop", works)
	d = in.start()
	runs(id, operation.Succeeded, new)

	d.watch()
	runs(d.begin("rollback", "default_shop").ID, operation.Succeeded, old)

	d.watch()
	next <- nomadtest.Rollout{
		Deployment: "failed", Description: "Failed due to progress deadline", Allocations: []nomadtest.Object{nomadtest.Failing("shop", 3)},
	}
	id = d.begin("update", "default_shop").ID
	runs(id, operation.RolledBack, old)
	_, page := d.as("Accept-Language: de", http.MethodGet, "/operations/"+id, "")
	for _, want := range []string{"Nomad default_shop auf ", "aktualisieren lassen", "Exit Code: 3"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the operation does not say %q", want)
		}
	}
	d.stop()
	if d.says("s3cret-of-nomad") {
		t.Error("the token is logged")
	}
}
