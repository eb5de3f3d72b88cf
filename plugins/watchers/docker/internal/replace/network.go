package replace

import (
	"bytes"
	"net"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
)

type mountSpec = mount.Mount

// endpoints returns the connections of a container with what a user set about them,
// the one that it was created with first.
func endpoints(c Container) []Endpoint {
	mode := c.HostConfig.NetworkMode
	if c.NetworkSettings == nil || mode.IsContainer() || mode.IsHost() || mode.IsNone() {
		return nil
	}
	var all []Endpoint
	for _, name := range sortedKeys(c.NetworkSettings.Networks) {
		has := c.NetworkSettings.Networks[name]
		if has == nil {
			has = &network.EndpointSettings{}
		}
		e := Endpoint{Name: name, Settings: &network.EndpointSettings{
			Links:      slices.Clone(has.Links),
			DriverOpts: has.DriverOpts,
			GwPriority: has.GwPriority,
		}}
		if i := has.IPAMConfig; i != nil && (i.IPv4Address != "" || i.IPv6Address != "" || len(i.LinkLocalIPs) > 0) {
			e.Settings.IPAMConfig = i.Copy()
		}
		for _, alias := range has.Aliases {
			// The engine adds the id's short form by itself.
			if !strings.HasPrefix(c.ID, alias) || len(alias) < 12 {
				e.Settings.Aliases = append(e.Settings.Aliases, alias)
			}
		}
		if isPrimary(c, name) {
			all = slices.Insert(all, 0, e)
		} else {
			all = append(all, e)
		}
	}
	return all
}

// isPrimary reports whether a network is the one that the container was created with.
func isPrimary(c Container, name string) bool {
	mode := string(c.HostConfig.NetworkMode)
	if mode == "default" || mode == "" {
		mode = network.NetworkBridge
	}
	e := c.NetworkSettings.Networks[name]
	return name == mode || e != nil && e.NetworkID != "" && e.NetworkID == mode
}

// ownMAC returns the MAC address of a network other than the first, if a user may have
// set it. Engines do not tell, but most before API 1.48 make theirs from the IP address.
// Later ones are random: kept, they do no harm, while one that was set and is lost does.
func ownMAC(e *network.EndpointSettings) string {
	if e == nil {
		return ""
	}
	mac, err := net.ParseMAC(e.MacAddress)
	if err != nil || bytes.Equal(mac, append(net.HardwareAddr{0x02, 0x42}, net.ParseIP(e.IPAddress).To4()...)) {
		return ""
	}
	return e.MacAddress
}

// detached returns the network that a container was created with and left; "" for none.
// A new container would be connected to it.
func detached(c Container) string {
	mode := c.HostConfig.NetworkMode
	if mode.IsContainer() || mode.IsHost() || mode.IsNone() || c.NetworkSettings == nil {
		return ""
	}
	for name := range c.NetworkSettings.Networks {
		if isPrimary(c, name) {
			return ""
		}
	}
	if mode == "" || mode == "default" {
		return network.NetworkBridge
	}
	return string(mode)
}
