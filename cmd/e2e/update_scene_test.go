package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// product is an image in a registry, in two versions.
type product struct {
	engine *dockertest.Daemon
	repo   string
	// old and new are the ids of the versions 1.0.0 and 1.1.0.
	old, new string
}

// newProduct pushes both versions of an image. The new one has the changes. The
// engine has the old one only.
func newProduct(t testing.TB, engine *dockertest.Daemon, repo string, changes ...string) *product {
	t.Helper()
	p := &product{engine: engine, repo: repo}
	p.old = engine.Image(t, repo+":1.0.0", "LABEL version=1.0.0")
	engine.Push(t, repo+":1.0.0")
	p.push(t, "1.1.0", changes...)
	return p
}

// push pushes another version, and removes it from the engine.
func (p *product) push(t testing.TB, tag string, changes ...string) {
	t.Helper()
	p.new = p.engine.Image(t, p.repo+":"+tag, append([]string{"LABEL version=" + tag}, changes...)...)
	p.engine.Push(t, p.repo+":"+tag)
	p.forget(t)
}

// float makes latest mean the new version in the registry and the old one in the engine.
func (p *product) float(t testing.TB, tag string) {
	t.Helper()
	p.engine.Pull(t, p.repo+":"+tag)
	must(t, p.engine.API.ImageTag(t.Context(), p.repo+":"+tag, p.repo+":latest"))
	p.engine.Push(t, p.repo+":latest")
	must(t, p.engine.API.ImageTag(t.Context(), p.repo+":1.0.0", p.repo+":latest"))
	p.forget(t)
}

// forget removes the new version from the engine, so that it has to be pulled.
func (p *product) forget(t testing.TB) {
	t.Helper()
	_, err := p.engine.API.ImageRemove(t.Context(), p.new, image.RemoveOptions{Force: true})
	if err != nil && !strings.Contains(err.Error(), "No such image") {
		t.Fatal(err)
	}
}

// containersOf lists the containers whose names begin so.
func containersOf(t testing.TB, engine *dockertest.Daemon, prefix string) []container.Summary {
	t.Helper()
	all, err := engine.API.ContainerList(t.Context(), container.ListOptions{All: true})
	must(t, err)
	return slices.DeleteFunc(all, func(c container.Summary) bool {
		return !slices.ContainsFunc(c.Names, func(n string) bool { return strings.HasPrefix(n, "/"+prefix) })
	})
}

// only requires that one container runs under a name, with an image, and that no
// other container has a name that begins so.
func only(t testing.TB, engine *dockertest.Daemon, name, image string) {
	t.Helper()
	all := containersOf(t, engine, name)
	if len(all) == 1 && all[0].Names[0] == "/"+name && all[0].State == "running" && all[0].ImageID == image {
		return
	}
	for _, c := range all {
		t.Errorf("%s: %s, image %.19s", c.Names[0], c.State, c.ImageID)
	}
	t.Errorf("want %s alone, which runs %.19s", name, image)
}

// begin asks for a change ("update", "rollback") of a container, and returns its operation.
func (d *daemon) begin(change, name string) api.Operation {
	d.t.Helper()
	c := known(d, name)
	status, body := d.request(http.MethodPost, "/api/containers/"+c.ID+"/"+change, "")
	var op api.Operation
	if status != http.StatusAccepted || json.Unmarshal(body, &op) != nil {
		d.t.Fatalf("%s %s: %d %s", change, name, status, body)
	}
	return op
}

// known returns a container by its name, which must be known.
func known(d *daemon, name string) sdk.Container {
	d.t.Helper()
	for _, c := range d.containers() {
		if c.Name == name {
			return c
		}
	}
	d.t.Fatalf("%s is not known", name)
	return sdk.Container{}
}

func (d *daemon) watch() []sdk.Container {
	d.t.Helper()
	return get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
}

func (d *daemon) plan(name string) api.Plan {
	d.t.Helper()
	return get[api.Plan](d, http.MethodPost, "/api/containers/"+known(d, name).ID+"/plan")
}

func (d *daemon) operation(id string) api.Operation {
	d.t.Helper()
	return get[api.Operation](d, http.MethodGet, "/api/operations/"+id)
}

// operations returns those of a container, the newest first.
func (d *daemon) operations(name string) []api.Operation {
	d.t.Helper()
	return get[[]api.Operation](d, http.MethodGet, "/api/operations?container=local/"+name+"&limit=1000")
}

// ended waits for the end of an operation.
func (d *daemon) ended(id string) (op api.Operation) {
	d.t.Helper()
	eventually(d.t, "operation "+id+" ends", func() bool { op = d.operation(id); return op.State.Ended() })
	return op
}

// ends returns the events about the end of an operation.
func (d *daemon) ends(id string) []event.Type {
	d.t.Helper()
	var all []event.Type
	for _, e := range get[[]event.Event](d, http.MethodGet, "/api/events?limit=1000") {
		if e.Operation == nil || e.Operation.ID != id {
			continue
		}
		switch e.Type {
		case event.OperationSucceeded, event.OperationRolledBack, event.OperationFailed, event.OperationCancelled:
			all = append(all, e.Type)
		}
	}
	return all
}

// says describes an operation in one line.
func says(op api.Operation) string {
	text := string(op.State)
	if op.Outcome != nil && op.Outcome.Reason != nil {
		text += " (" + op.Outcome.Reason.Code + ")"
	}
	if op.Error != "" {
		text += ": " + op.Error
	}
	for _, s := range op.Steps {
		text += fmt.Sprintf("\n  %s ended=%v %s", s.ID, s.Ended, s.Error)
	}
	if op.Outcome != nil {
		for _, w := range op.Outcome.Warnings {
			text += "\n  warning " + w.Code + ": " + w.Text
		}
	}
	return text
}

// succeeded requires that an operation ended well.
func succeeded(t testing.TB, op api.Operation) {
	t.Helper()
	if op.State != operation.Succeeded || op.Outcome == nil || len(op.Outcome.Warnings) > 0 {
		t.Errorf("the operation is %s", says(op))
	}
}
