package testrun

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// fakeUpdater is a watcher that may update when why is its reason.
type fakeUpdater struct {
	may     bool
	why     string
	listed  []sdk.Container
	plan    watcher.Plan
	err     error
	planned []string
}

func (f *fakeUpdater) FullID() string          { return "watcher.docker.local" }
func (f *fakeUpdater) Updates() (bool, string) { return f.may, f.why }
func (f *fakeUpdater) UpdateRemedy() string    { return "set watcher.docker.local.update to true" }
func (f *fakeUpdater) List(context.Context) ([]sdk.Container, error) {
	return f.listed, f.err
}
func (f *fakeUpdater) Plan(_ context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	f.planned = append(f.planned, req.ContainerID)
	return f.plan, nil
}

// TestTriggerThatUpdates: the test of one says whether an update would be possible, and requests none.
func TestTriggerThatUpdates(t *testing.T) {
	containers := []sdk.Container{{ID: "1", Name: "db", Status: "exited"}, {ID: "2", Name: "web", Status: "running"}}
	able := fakeUpdater{
		may: true, why: "its option update is true", listed: containers, plan: watcher.Plan{Steps: make([]watcher.Step, 6)},
	}
	with := func(change func(*fakeUpdater)) []*fakeUpdater {
		f := able
		change(&f)
		return []*fakeUpdater{&f}
	}
	for name, c := range map[string]struct {
		updaters []*fakeUpdater
		want     string // of the response, or of the error
		fails    bool
	}{
		"able": {with(func(*fakeUpdater) {}),
			"watcher.docker.local may update, since its option update is true; its engine takes changes, and an update of web would take 6 steps", false},
		"empty": {with(func(f *fakeUpdater) { f.listed = nil }),
			"watcher.docker.local may update, since its option update is true; it has no container to plan an update for", false},
		"not allowed": {with(func(f *fakeUpdater) { f.may = false }),
			"no watcher may update containers: set watcher.docker.local.update to true", true},
		"cannot": {with(func(f *fakeUpdater) { f.may, f.why = false, "" }),
			"no watcher can update containers: configure one of a type that can, such as docker", true},
		"none": {nil, "no watcher can update containers: configure one of a type that can, such as docker", true},
		"away": {with(func(f *fakeUpdater) { f.err = errors.New("the engine is away") }),
			"watcher.docker.local: the engine is away", true},
		"read-only": {with(func(f *fakeUpdater) {
			f.plan = watcher.Plan{
				Blocks: []watcher.Reason{{Code: "data.volume", Text: "it keeps data"}, {
					Code: "engine.readonly", Text: "the proxy takes no changes",
				}},
			}
		}), "watcher.docker.local: the proxy takes no changes (engine.readonly)", true},
		"blocked": {with(func(f *fakeUpdater) {
			f.plan = watcher.Plan{Blocks: []watcher.Reason{{Code: "data.volume", Text: "it keeps data"}}}
		}),
			"watcher.docker.local may update, since its option update is true; its engine takes changes, but web is not updated by itself: it keeps data", false},
	} {
		requests := make(chan trigger.Request, 1)
		r := newRunner(t, false, fakeTrigger{requests: requests}, "new: ${container.name}")
		r.opt.Updaters = func() (all []Updater) {
			for _, u := range c.updaters {
				all = append(all, u)
			}
			return all
		}
		docker := &component.Trigger{
			Component: component.Component{
				Kind: kind.Trigger, Type: "docker", Name: "local", Capabilities: []string{kind.CapOperate},
			},
		}
		got, err := r.trigger(t.Context(), docker)
		if text := got.Response; c.fails && (err == nil || err.Error() != c.want) ||
			!c.fails && (err != nil || text != c.want) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if req := <-requests; !req.Test || req.CanOperate() {
			t.Errorf("%s: the trigger may act in a test", name)
		}
		for _, u := range c.updaters {
			if planned := strings.Join(u.planned, " "); planned != "" && planned != "2" {
				t.Errorf("%s: planned %s", name, planned)
			}
		}
	}
}
