package swarm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/docker/docker/api/types/swarm"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The codes of blocks and warnings.
const (
	BlockReadOnly = "engine.readonly"
	BlockChanged  = "changed"
	BlockImage    = "image.missing"
	BlockJob      = "service.job"
	BlockUpdating = "service.updating"
	WarnProbe     = "probe.service"
	WarnHooks     = "hooks.service"
	WarnCompose   = "compose.unchanged"
)

// Plan implements watcher.Updater. It costs one request.
func (s *Swarm) Plan(ctx context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	service, err := s.engine.Service(ctx, req.ContainerID)
	if err != nil {
		return watcher.Plan{}, err
	}
	return s.plan(service, req), nil
}

func (s *Swarm) plan(service engine.Service, req watcher.UpdateRequest) watcher.Plan {
	name := service.Spec.Name
	p := watcher.Plan{
		ContainerID: service.ID, Name: name, State: state(service),
		To:    watcher.PlannedImage{Reference: req.Image.Reference, Digest: req.Image.Digest},
		Space: watcher.Space{Download: -1, Writable: -1},
	}
	if req.Image.Config != nil {
		p.Space.Download = req.Image.Config.Size
	}
	if !s.engine.Writes() {
		p.Blocks = append(p.Blocks, watcher.Reason{
			Code: BlockReadOnly,
			Text: "this watcher only reads: set its option update to true to let it update services",
		})
	}
	spec := service.Spec.TaskTemplate.ContainerSpec
	if spec == nil {
		p.Blocks = append(p.Blocks, watcher.Reason{Code: BlockImage, Text: name + " runs no containers"})
		return p
	}
	was, _ := engine.ParseReference(spec.Image) // without a digest when it is none
	p.From = watcher.PlannedImage{Reference: readable(spec.Image), Digest: was.Digest, ID: was.Digest}
	image, err := imageOf(spec.Image, req.Image)
	if err != nil {
		p.Blocks = append(p.Blocks, watcher.Reason{Code: BlockImage, Text: err.Error()})
		return p
	}
	p.Blocks = append(p.Blocks, blocks(service, req.Rules)...)
	p.Warnings = warnings(name, req.Rules)
	if !req.Rules.DryRun {
		p.Steps = []watcher.Step{
			{
				ID: "rollout:" + name, Code: watcher.StepRollout, Container: name,
				Text: fmt.Sprintf("have the swarm update %s to %s%s", name, readable(image), pace(service.Spec.UpdateConfig)),
			},
			{
				ID: "health:" + name, Code: watcher.StepHealth, Container: name,
				Text: "wait until all tasks of " + name + " run the new image",
			},
		}
	}
	return p
}

// imageOf returns the image of the service after an update: as the user wrote the old one, with tag and digest, as
// clients of swarms write it so that all nodes run the same.
func imageOf(old string, image watcher.TargetImage) (string, error) {
	ref, err := engine.ParseReference(image.Reference)
	if err != nil {
		return "", err
	}
	if was, err := engine.ParseReference(old); err == nil {
		ref = engine.WrittenAs(ref, was)
		if was.Tag == "" && was.Digest != "" {
			ref.Tag = ""
		}
	}
	switch {
	case image.Digest != "":
		ref.Digest = image.Digest
	case ref.Digest == "": // of a rollback
		ref.Digest = image.ID
	}
	return ref.String(), nil
}

// readable is an image as users name it: without the digest, where it has a tag.
func readable(image string) string {
	ref, err := engine.ParseReference(image)
	if err != nil || ref.Tag == "" {
		return image
	}
	ref.Digest = ""
	return ref.String()
}

// pace says how many tasks the swarm replaces at a time, as the service has it.
func pace(c *swarm.UpdateConfig) string {
	switch {
	case c == nil, c.Parallelism == 1:
		return ", one task after the other"
	case c.Parallelism == 0:
		return ", all tasks at once"
	}
	return fmt.Sprintf(", %d tasks at a time", c.Parallelism)
}

func blocks(service engine.Service, rules watcher.UpdateRules) (all []watcher.Reason) {
	name := service.Spec.Name
	if service.Spec.Mode.ReplicatedJob != nil || service.Spec.Mode.GlobalJob != nil {
		all = append(all, watcher.Reason{Code: BlockJob, Text: name + " is a job: update it where it is started from"})
	}
	if u := service.UpdateStatus; u != nil &&
		(u.State == swarm.UpdateStateUpdating || u.State == swarm.UpdateStateRollbackStarted) {
		all = append(all, watcher.Reason{
			Code: BlockUpdating, Text: "an update of " + name + " is under way in the swarm: wait for its end",
		})
	}
	if rules.Compose != nil && rules.Compose.Required {
		all = append(all, watcher.Reason{
			Code: watcher.BlockComposeAbsent,
			Text: name + " is a service of a swarm, whose stack file is not edited: change the tag there, and deploy it",
		})
	}
	return all
}

// warnings say which rules of an update the swarm does not know.
func warnings(name string, rules watcher.UpdateRules) (all []watcher.Reason) {
	if h := rules.Health; h.HTTP != "" || h.TCP != "" || len(h.Command) > 0 {
		all = append(all, watcher.Reason{Code: WarnProbe, Text: "the probe of " + name +
			" is not used: a swarm waits for the HEALTHCHECK of the image or of the service"})
	}
	if len(rules.Hooks.Pre)+len(rules.Hooks.Post) > 0 {
		all = append(all, watcher.Reason{Code: WarnHooks, Text: "the hooks of " + name +
			" are not run: they belong to one container, and a service has many"})
	}
	return all
}

// state identifies the specification that a plan was made from.
func state(service engine.Service) string {
	text := service.Source
	if len(text) == 0 {
		text, _ = json.Marshal(service.Spec)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
