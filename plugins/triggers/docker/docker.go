// Package docker has containers replaced by ones that run the newer image. It takes
// no step itself: the watcher of the container does, which has the engine.
package docker

import (
	"context"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Options configures one docker trigger.
type Options struct {
	Prune                bool    `option:"prune" default:"false" help:"Remove images that no container uses after an update"`
	DryRun               bool    `option:"dryrun" default:"false" help:"Pull the image, and leave the container as it is"`
	Keep                 int     `option:"keep" default:"0" min:"0" max:"10" help:"How many stopped predecessors of a container stay"`
	AutoRemoveTimeout    float64 `option:"autoremovetimeout" default:"10000" min:"0" help:"Has no effect: Dogwatch does not wait for the engine to remove a container"`
	MultiNetworkFallback bool    `option:"multinetworkfallback" default:"true" help:"Has no effect: a container with several networks keeps them on every engine"`
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("docker", "Update containers; an update that does not work returns to the old container", New,
		kind.Needs(kind.CapOperate), kind.Deliver(kind.AtMostOnce))
}

// Updater is a trigger that has the containers updated for which it runs, with some rules.
type Updater struct{ Rules watcher.UpdateRules }

// New returns a trigger that has the containers updated for which it runs.
func New(_ sdk.Env, o Options) (trigger.Trigger, error) {
	return &Updater{watcher.UpdateRules{Prune: o.Prune, DryRun: o.DryRun, Keep: o.Keep}}, nil
}

// Run requests an update of each container. A test updates nothing.
func (u *Updater) Run(ctx context.Context, req trigger.Request) error {
	if req.Test {
		return nil
	}
	for _, c := range req.Containers {
		if err := req.Operate(ctx, trigger.OperationRequest{ContainerID: c.ID, Rules: u.Rules}); err != nil {
			return err
		}
	}
	return nil
}
