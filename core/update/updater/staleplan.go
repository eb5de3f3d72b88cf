package updater

import (
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// listedWithin is how long a container that an operation recreated may take to be listed.
const listedWithin = 10 * time.Second

// planIsStale reports whether an operation that ended since another one was queued may
// have changed its container or what depends on that, so that its plan is out of date.
// It returns the container as it is then.
func (r *Runner) planIsStale(op operation.Operation, c sdk.Container) (sdk.Container, bool, error) {
	ended, err := r.opt.Store.Operations(r.life, operation.Filter{
		Watcher: op.Watcher,
		States:  []operation.State{operation.Succeeded, operation.RolledBack, operation.Failed, operation.Cancelled},
	})
	if err != nil {
		return c, false, err
	}
	isStale := false
	for _, other := range ended {
		untouched := other.State == operation.Cancelled && other.Outcome == nil
		if untouched || !other.Ended.After(op.Queued) || !related(other, op) {
			continue
		}
		isStale = true
		if other.State == operation.Succeeded && recreates(other.Plan, op.Name) && c.ID == op.ContainerID {
			c = r.listed(op, c)
		}
	}
	return c, isStale, nil
}

// recreates reports whether a plan recreates the container of a name, as a dependent.
func recreates(p watcher.Plan, name string) bool {
	return slices.ContainsFunc(p.Dependents, func(d watcher.Dependent) bool {
		return d.Name == name && d.Action == watcher.StepCreate
	})
}

// listed waits until the container that was recreated is the one that is listed.
func (r *Runner) listed(op operation.Operation, c sdk.Container) sdk.Container {
	for end := time.Now().Add(listedWithin); time.Now().Before(end) &&
		!r.isStopping(); waitFor(r.life, 100*time.Millisecond, nil) {
		if now, known := r.opt.Containers.ByName(op.Watcher, op.Name); known && now.ID != op.ContainerID {
			return now
		}
	}
	return c
}
