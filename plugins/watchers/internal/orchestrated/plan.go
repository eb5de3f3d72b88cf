package orchestrated

import (
	"cmp"
	"fmt"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The codes of blocks that plans of all clusters have.
const (
	BlockChanged = "changed" // the workload is not what was planned for any more
	BlockImage   = "image.missing"
)

// NewPlan begins the plan of an update: its images and steps. old is the image that the workload has, cluster the name
// of what carries it out, and wait the text of the step in which it is watched, "" for none. Where there is no image
// to update to, the plan has a block instead of steps.
func NewPlan(req watcher.UpdateRequest, cluster, name, old, wait string) watcher.Plan {
	was, _ := reference.Split(old) // without a digest when it is none
	p := watcher.Plan{
		ContainerID: req.ContainerID, Name: name,
		From:  watcher.PlannedImage{Reference: Readable(old), Digest: was.Digest, ID: cmp.Or(was.Digest, old)},
		To:    watcher.PlannedImage{Reference: req.Image.Reference, Digest: req.Image.Digest},
		Space: watcher.Space{Download: -1, Writable: -1},
	}
	if req.Image.Config != nil {
		p.Space.Download = req.Image.Config.Size
	}
	image, err := ImageOf(old, req.Image)
	switch {
	case err != nil:
		p.Blocks = []watcher.Reason{{Code: BlockImage, Text: err.Error()}}
	case !req.Rules.DryRun:
		p.Steps = []watcher.Step{{
			ID: "rollout:" + name, Code: watcher.StepRollout, Container: name,
			Text: fmt.Sprintf("have %s update %s to %s", cluster, name, Readable(image)),
		}}
		if wait != "" {
			p.Steps = append(p.Steps, watcher.Step{ID: "health:" + name, Code: watcher.StepHealth, Container: name, Text: wait})
		}
	}
	return p
}
