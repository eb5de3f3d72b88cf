package replace

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-connections/nat"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The codes of blocks.
const (
	BlockChanged   = "changed"
	BlockSwarm     = "swarm"
	BlockKube      = "kubernetes"
	BlockPlatform  = "image.platform"
	BlockImage     = "image.missing"
	BlockData      = "data.writable-layer"
	BlockFiles     = "files.unknown"
	BlockRemove    = "autoremove"
	BlockReadOnly  = "engine.readonly"
	BlockSelf      = "self"
	BlockPath      = "engine.path"
	BlockNetwork   = "network.missing"
	BlockDetached  = "network.detached"
	BlockDependent = "dependent.image"
	BlockDefaults  = "defaults.unknown"
	BlockNameTaken = "name.taken" // only as the reason of an outcome
)

// The codes of warnings.
const (
	WarnNoCheck    = "no-healthcheck"
	WarnRestarting = "restarting"
	WarnUnwell     = "unhealthy"
	WarnProbe      = "probe.unreachable"
	WarnLabels     = "labels.image"
)

// ignoredBytes is how much a container may have written into itself: pid files,
// caches and the like are no data.
const ignoredBytes = 1 << 20

// blocks are what keeps the update from being applied, without those that the user accepted.
func blocks(f Facts, deps []dependent, req watcher.UpdateRequest) []watcher.Reason {
	var all []watcher.Reason
	add := func(code, text string, args ...any) {
		all = append(all, watcher.Reason{Code: code, Text: fmt.Sprintf(text, args...)})
	}
	if f.Engine.ReadOnly != "" {
		add(BlockReadOnly, "%s", f.Engine.ReadOnly)
	}
	image := req.Image
	if image.ID == "" && image.Digest == "" {
		add(BlockImage,
			"the image %s is not on the engine, and its digest is not known, so it cannot be pulled: "+
				"check for updates again", image.Reference)
	}
	if old := f.Target.Image; old != nil && image.Config != nil && image.Config.Platform.Architecture != "" {
		if platform := image.Config.Platform.OS + "/" + image.Config.Platform.Architecture; old.Platform != "" &&
			platform != old.Platform {
			add(BlockPlatform, "%s is for %s, and %s runs one for %s: choose an image for %s", image.Reference,
				platform, f.Target.Name(), old.Platform, old.Platform)
		}
	}
	helperBlocks(f, deps, add)
	containerBlocks(f, f.Target, add)
	for _, d := range deps {
		if d.action == watcher.StepRestart {
			continue
		}
		containerBlocks(f, d.Container, add)
		if d.Image == nil || !means(d.Image, d.Config.Image) {
			add(BlockDependent,
				"%s has to be recreated with %s, and its image %s is another one by now: update %s first", d.Name(),
				f.Target.Name(), d.Config.Image, d.Name())
		}
	}
	// As labels they would come to count as the user's.
	if f.Target.Image == nil && !f.Compose.Recreates() && !slices.Contains(req.Rules.Acknowledged, BlockDefaults) {
		all = append(all, watcher.Reason{Code: BlockDefaults, Acknowledge: true, Text: fmt.Sprintf(
			"the old image of %s is gone, so its settings and labels cannot be told from yours, and would be kept as yours: "+
				"recreate it with compose, or acknowledge %s", f.Target.Name(), BlockDefaults)})
	}
	for _, c := range append([]Container{f.Target}, containers(deps)...) {
		if c.Files.Hidden != "" && !f.Compose.Recreates() && !slices.Contains(req.Rules.Acknowledged, BlockFiles) {
			all = append(all, watcher.Reason{Code: BlockFiles, Acknowledge: true, Text: fmt.Sprintf(
				"whether compose put files into %s, which would be lost, is not known: %s, or acknowledge %s", c.Name(),
				c.Files.Hidden, BlockFiles)})
		}
	}
	for _, c := range append([]Container{f.Target}, containers(deps)...) {
		if text := unseen(c); text != "" && f.Compose.Unit == "" && !slices.Contains(req.Rules.Acknowledged, BlockPodmanUnseen) {
			all = append(all, watcher.Reason{Code: BlockPodmanUnseen, Acknowledge: true, Text: text})
		}
	}
	// A unit of a quadlet removes its container whenever that stops.
	if !slices.Contains(req.Rules.Acknowledged, BlockData) && f.Compose.Unit == "" {
		for _, c := range append([]Container{f.Target}, containers(deps)...) {
			if c.SizeRw != nil && *c.SizeRw >= ignoredBytes {
				most := c.Files.largest()
				if most != "" {
					most = " (" + most + ")"
				}
				all = append(all, watcher.Reason{Code: BlockData, Acknowledge: true, Text: fmt.Sprintf(
					"%s has written %.1f MiB into itself (up to 1 MiB is ignored), which would be lost%s: "+
						"move the data to a volume, or acknowledge %s",
					c.Name(), float64(*c.SizeRw)/(1<<20), most, BlockData)})
			}
		}
	}
	return all
}

// containers returns the dependents that are recreated.
func containers(deps []dependent) (all []Container) {
	for _, d := range deps {
		if d.action == watcher.StepCreate {
			all = append(all, d.Container)
		}
	}
	return all
}

// containerBlocks are the reasons why one container cannot be recreated.
func containerBlocks(f Facts, c Container, add func(code, text string, args ...any)) {
	name := c.Name()
	if f.Compose.Unit != "" && c.ID == f.Target.ID {
		return // systemd recreates it
	}
	switch {
	case c.says("com.docker.swarm.service"):
		add(BlockSwarm, "%s is a task of Swarm, which would replace it again: update its service with a watcher of "+
			"type swarm", name)
	case c.says("io.kubernetes."):
		add(BlockKube, "%s belongs to Kubernetes, which would replace it again: change its workload", name)
	case c.HostConfig.AutoRemove:
		add(BlockRemove,
			"the engine removes %s as soon as it stops (--rm), so it could not be brought back: recreate it without --rm", name)
	}
	podmanBlocks(c, add)
	if network := detached(c); network != "" && !f.Engine.Podman { // which calls each network a bridge
		add(BlockDetached,
			"%s was created with the network %s and left it; a new one would be connected to it: "+
				"connect it, or recreate it", name, network)
	}
	for _, e := range endpoints(c) {
		if f.Networks != nil && !slices.Contains(f.Networks, e.Name) {
			add(BlockNetwork, "the network %s of %s does not exist any more: create it, or recreate the container", e.Name, name)
		}
	}
}

// warnings are what the user should know.
func warnings(f Facts, deps []dependent, req watcher.UpdateRequest) []watcher.Reason {
	var all []watcher.Reason
	c := f.Target
	if req.Image.Config != nil && !f.Compose.Recreates() {
		all = append(all, labelWarnings(c, req.Image.Config.Labels)...)
	}
	if c.Status() == Restarting {
		text := "%s keeps restarting, so a failed update returns to one that does not work either"
		if len(req.Rules.Hooks.Pre) > 0 {
			text += ", and the hook is not run in it"
		}
		all = append(all, watcher.Reason{Code: WarnRestarting, Text: fmt.Sprintf(text, c.Name())})
	}
	gate := req.Rules.Health
	if Unwell(c, gate) {
		all = append(all, watcher.Reason{Code: WarnUnwell, Text: fmt.Sprintf(
			"%s is unhealthy, so the new one only has to stay up", c.Name())})
	}
	for _, d := range containers(deps) {
		switch {
		case d.Status() == Restarting:
			all = append(all, watcher.Reason{Code: WarnUnwell, Text: fmt.Sprintf(
				"%s keeps restarting, so its new one need not stay up", d.Name())})
		case Unwell(d, watcher.HealthGate{}):
			all = append(all, watcher.Reason{Code: WarnUnwell, Text: fmt.Sprintf(
				"%s is unhealthy, so its new one only has to stay up", d.Name())})
		}
	}
	if port := outOfReach(f, gate); port != "" {
		all = append(all, watcher.Reason{Code: WarnProbe, Text: fmt.Sprintf(
			"Dogwatch is in no network of %s, which does not publish port %s, so the probe may not reach it: "+
				"connect Dogwatch to one of them, or use a command as the probe", c.Name(), port)})
	}
	if c.Config.Healthcheck == nil && gate.HTTP == "" && gate.TCP == "" && len(gate.Command) == 0 &&
		(req.Image.Config == nil || len(req.Image.Config.Healthcheck) == 0) {
		all = append(all, watcher.Reason{Code: WarnNoCheck, Text: fmt.Sprintf(
			"%s has no health check, so it counts as working when it stays up", c.Name())})
	}
	return all
}

// Unwell reports whether a container is unhealthy by its own health check, and no probe is set
// that says whether a new one works.
func Unwell(c Container, gate watcher.HealthGate) bool {
	probed := gate.HTTP != "" || gate.TCP != "" || len(gate.Command) > 0
	return !probed && c.State != nil && c.State.Health != nil && c.State.Health.Status == container.Unhealthy
}

// outOfReach returns the port of a probe that Dogwatch cannot reach from the networks
// of its own container; "" if it can, or if that is not known.
func outOfReach(f Facts, gate watcher.HealthGate) string {
	port, found := strings.CutPrefix(gate.TCP, ":")
	if to, err := url.Parse(gate.HTTP); gate.HTTP != "" && err == nil && to.Hostname() == "" {
		if port, found = to.Port(), true; port == "" {
			port = map[string]string{"https": "443"}[to.Scheme]
		}
		port = cmp.Or(port, "80")
	}
	index := slices.IndexFunc(f.Others, func(c Container) bool { return c.ID == f.Self })
	mode := f.Target.HostConfig.NetworkMode
	if !found || f.Self == "" || index < 0 || mode.IsHost() || mode.IsContainer() || f.Target.NetworkSettings == nil {
		return ""
	}
	self := f.Others[index]
	if self.HostConfig.NetworkMode.IsHost() || self.HostConfig.NetworkMode.IsContainer() || self.NetworkSettings == nil {
		return ""
	}
	for name := range f.Target.NetworkSettings.Networks {
		if _, shared := self.NetworkSettings.Networks[name]; shared {
			return ""
		}
	}
	if len(f.Target.HostConfig.PortBindings[nat.Port(port+"/tcp")]) > 0 {
		return ""
	}
	return port
}

// means reports whether a reference means the image now.
func means(image *Image, text string) bool {
	if strings.TrimPrefix(text, "sha256:") == strings.TrimPrefix(image.ID, "sha256:") {
		return true
	}
	want, err := reference.Parse(text)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(slices.Concat(image.Tags, image.Digests), func(name string) bool {
		ref, err := reference.Parse(name)
		if err != nil || ref.Canonical().Name() != want.Canonical().Name() {
			return false
		}
		if want.Digest != "" {
			return ref.Digest == want.Digest
		}
		return ref.Digest == "" && tag(ref) == tag(want)
	})
}

func tag(r reference.Reference) string {
	if r.Tag == "" {
		return "latest"
	}
	return r.Tag
}

// digestOf returns the digest of the image's repository among "repository@digest".
func digestOf(digests []string, text string) string {
	want, err := reference.Parse(text)
	if err != nil {
		return ""
	}
	for _, d := range digests {
		if ref, err := reference.Parse(d); err == nil && ref.Canonical().Name() == want.Canonical().Name() {
			return ref.Digest
		}
	}
	return ""
}
