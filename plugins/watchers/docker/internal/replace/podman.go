package replace

import (
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/podman"
)

// LabelUnit is the label with the systemd unit that creates a container of Podman, see podman-auto-update(1).
const LabelUnit = "PODMAN_SYSTEMD_UNIT"

// The codes of blocks about Podman.
const (
	BlockPodmanSetting = "podman.setting"
	BlockPodmanUnseen  = "podman.unseen"
	BlockPodmanInfra   = "podman.infra"
	BlockPodmanUnit    = "podman.unit"
	BlockQuadletOff    = "quadlet.off"
	BlockQuadletBus    = "quadlet.bus"
)

// podmanBlocks are the reasons why a container of Podman cannot be recreated.
func podmanBlocks(c Container, add func(code, text string, args ...any)) {
	name, has := c.Name(), c.Podman
	if has == nil {
		return
	}
	unit := c.Config.Labels[LabelUnit]
	switch lost := has.Lost(); {
	case has.IsInfra:
		add(BlockPodmanInfra, "%s is the infra container of a pod, which holds its namespaces: update Podman instead, and "+
			"recreate the pod", name)
	case unit != "":
		add(BlockPodmanUnit, "%s is created anew by its systemd unit %s, which names the old image: "+
			"make it a quadlet, which Dogwatch can edit, or change the image there", name, unit)
	case len(lost) > 0:
		add(BlockPodmanSetting, "%s has settings that a new container would lose: %s: "+
			"create it anew with podman run, or make it a quadlet", name, strings.Join(lost, ", "))
	}
}

// unseen is the text of the block for containers of which Podman does not say how they were created; "" for others.
func unseen(c Container) string {
	if c.Podman == nil || c.Podman.IsInfra || !c.Podman.Unseen() {
		return ""
	}
	return fmt.Sprintf("%s was created by Podman's API, so what Podman does not tell of it would be lost, such as "+
		"sysctls and static addresses: create it anew with podman run, or acknowledge %s", c.Name(), BlockPodmanUnseen)
}

// Libpod returns the spec of a container of Podman as its own API takes it.
func (s Spec) Libpod(c Container) podman.Spec {
	var health *container.HealthConfig
	if s.Config.Healthcheck != nil { // which Podman does not merge with that of the image
		health = c.Config.Healthcheck
	}
	return podman.Make(*c.Podman, s.Name, s.Config.Image, s.Config, health).
		Sharing(string(s.Host.NetworkMode), string(s.Host.PidMode), string(s.Host.IpcMode))
}
