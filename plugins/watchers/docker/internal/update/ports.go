package update

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-connections/nat"
)

// unpublished is the code of a new container that does not publish what the old one did.
const unpublished = "ports"

// published compares the ports that a new container publishes with those of the old one while
// that ran, as far as a user set them: engines choose others anew. A coded error names what is missing.
func published(old, c container.InspectResponse) error {
	if old.HostConfig == nil || old.NetworkSettings == nil || c.NetworkSettings == nil {
		return nil
	}
	var missing []string
	for port, wanted := range old.HostConfig.PortBindings {
		before, now := old.NetworkSettings.Ports[port], c.NetworkSettings.Ports[port]
		for _, b := range before {
			set := slices.ContainsFunc(wanted, func(w nat.PortBinding) bool { return w.HostPort == b.HostPort })
			same := func(n nat.PortBinding) bool { return n.HostIP == b.HostIP && (n.HostPort == b.HostPort || !set) }
			if !slices.ContainsFunc(now, same) {
				missing = append(missing, b.HostIP+":"+b.HostPort+" to "+string(port))
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return &coded{unpublished, fmt.Sprintf("it does not publish %s as the old one did", strings.Join(missing, ", "))}
}
