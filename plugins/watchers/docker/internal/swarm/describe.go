package swarm

import (
	"fmt"
	"maps"

	"github.com/docker/docker/api/types/swarm"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// describe makes the container that stands for a service. All of its labels are the user's: a swarm does not merge
// those of images into them.
func describe(s swarm.Service, platform sdk.Platform) watcher.Container {
	spec := s.Spec.TaskTemplate.ContainerSpec
	labels := maps.Clone(spec.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, s.Spec.Labels) // labels of the service count before those of its containers
	c := watcher.Container{
		ID: s.ID, Name: s.Spec.Name, Status: status(s), Created: sdk.TimeOf(s.CreatedAt), Labels: labels,
	}
	ref, err := engine.ParseReference(spec.Image)
	if err != nil {
		c.Error, ref = err.Error(), reference.Reference{Path: spec.Image}
	}
	c.Image = watcher.Image{
		// Which image the nodes got is not known: the digest stands for it.
		ID: ref.Digest, Host: ref.Domain, Name: ref.Path, Tag: ref.Tag, Digest: ref.Digest, Platform: platform,
		// Clients write the digest of a tag into the service themselves; without a tag the user did.
		Pinned: ref.Digest != "" && ref.Tag == "",
	}
	switch {
	case ref.Digest != "":
		c.Image.Digests = []string{ref.Name() + "@" + ref.Digest}
	case ref.Tag == "" && err == nil:
		c.Image.Tag = "latest"
	}
	return c
}

// status says how many of the tasks of a service run: "running", "running 1/3" or "stopped". It is empty where the
// engine does not say (before API 1.41).
func status(s swarm.Service) string {
	running := s.ServiceStatus
	switch {
	case running == nil:
		return ""
	case running.RunningTasks == 0 && (running.DesiredTasks == 0 || running.DesiredTasks == running.CompletedTasks):
		return "stopped"
	case running.RunningTasks >= running.DesiredTasks:
		return "running"
	}
	return fmt.Sprintf("running %d/%d", running.RunningTasks, running.DesiredTasks)
}
