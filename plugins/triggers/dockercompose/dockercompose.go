// Package dockercompose has the image of a container changed in its compose file, and
// the container replaced. It takes no step itself: the watcher of the container does.
package dockercompose

import (
	"github.com/dogwatch/dogwatch/plugins/triggers/docker"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Options configures one dockercompose trigger.
type Options struct {
	File                 string  `option:"file" help:"Compose file of containers whose labels name none that can be read" example:"/stack/compose.yaml"`
	ComposeFileLabel     string  `option:"composefilelabel" help:"Label that names the compose file of a container; dogwatch.compose.file and wud.compose.file without it" example:"compose.file"`
	Backup               bool    `option:"backup" default:"false" help:"Keep a copy of the compose file as it was before, with .back at the end of its name"`
	Command              bool    `option:"command" default:"false" help:"Have the compose command recreate the container, where there is one, instead of the engine's API"`
	Prune                bool    `option:"prune" default:"false" help:"Remove images that no container uses after an update"`
	DryRun               bool    `option:"dryrun" default:"false" help:"Pull the image, and leave file and container as they are"`
	Keep                 int     `option:"keep" default:"0" min:"0" max:"10" help:"How many stopped predecessors of a container stay"`
	AutoRemoveTimeout    float64 `option:"autoremovetimeout" default:"10000" min:"0" help:"Has no effect: Dogwatch does not wait for the engine to remove a container"`
	MultiNetworkFallback bool    `option:"multinetworkfallback" default:"true" help:"Has no effect: a container with several networks keeps them on every engine"`
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("dockercompose", "Update containers, and write the new image into their compose file", New,
		kind.Needs(kind.CapOperate), kind.Deliver(kind.AtMostOnce))
}

// New returns a trigger that has the containers updated for which it runs.
func New(_ sdk.Env, o Options) (trigger.Trigger, error) {
	return &docker.Updater{Rules: watcher.UpdateRules{
		Prune: o.Prune, DryRun: o.DryRun, Keep: o.Keep,
		Compose: &watcher.ComposeRules{
			File: o.File, Label: o.ComposeFileLabel, Backup: o.Backup, Command: o.Command, Required: true,
		},
	}}, nil
}
