package update

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
)

// resolveLimit bounds how long the address of the engine is looked up.
const resolveLimit = 2 * time.Second

// proxies returns the containers through which the engine is reached: a socket proxy that
// has the name or address of the endpoint, or that publishes its port.
func (u *Updater) proxies(ctx context.Context, f replace.Facts) map[string]bool {
	if u.engine.Endpoint.Network != "tcp" {
		return nil
	}
	host, port, err := net.SplitHostPort(u.engine.Endpoint.Address)
	if err != nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, resolveLimit)
	defer cancel()
	// A name that is not known is looked for among the names of the containers only.
	addresses, _ := net.DefaultResolver.LookupHost(limited, host)
	addresses = append(addresses, host)
	found := map[string]bool{}
	for _, c := range append([]replace.Container{f.Target}, f.Others...) {
		if c.ID != f.Self &&
			(named(c, host) || addressed(c, addresses) || publishes(c, port) || loopback(host) && shares(f, c)) {
			found[c.ID] = true
		}
	}
	return found
}

func named(c replace.Container, host string) bool {
	if c.Name() == host || c.Config.Hostname == host || engine.Short(c.ID) == host {
		return true
	}
	if c.NetworkSettings != nil {
		for _, e := range c.NetworkSettings.Networks {
			if e != nil && (slices.Contains(e.Aliases, host) || slices.Contains(e.DNSNames, host)) {
				return true
			}
		}
	}
	return false
}

func addressed(c replace.Container, addresses []string) bool {
	if c.NetworkSettings != nil {
		for _, e := range c.NetworkSettings.Networks {
			if e != nil &&
				(e.IPAddress != "" && slices.Contains(addresses, e.IPAddress) ||
					e.GlobalIPv6Address != "" && slices.Contains(addresses, e.GlobalIPv6Address)) {
				return true
			}
		}
	}
	return false
}

func publishes(c replace.Container, port string) bool {
	for _, bindings := range c.HostConfig.PortBindings {
		for _, b := range bindings {
			if b.HostPort == port {
				return true
			}
		}
	}
	return false
}

// shares reports whether a container has the network of Dogwatch's own, so that
// "localhost" is the same for both.
func shares(f replace.Facts, c replace.Container) bool {
	mode, other := mode(f, f.Self), mode(f, c.ID)
	return strings.HasPrefix(mode, "container:") &&
		(mode == other || strings.HasPrefix(c.ID, strings.TrimPrefix(mode, "container:"))) ||
		strings.HasPrefix(other, "container:") && f.Self != "" &&
			strings.HasPrefix(f.Self, strings.TrimPrefix(other, "container:"))
}

// mode is the network mode of a container.
func mode(f replace.Facts, id string) string {
	for _, c := range append([]replace.Container{f.Target}, f.Others...) {
		if c.ID == id {
			return string(c.HostConfig.NetworkMode)
		}
	}
	return ""
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// noHelper says why no helper container can work; "" when it can, or none is needed.
func (u *Updater) noHelper(f replace.Facts) string {
	if !replace.NeedsHelper(f) {
		return ""
	}
	for _, c := range append([]replace.Container{f.Target}, f.Others...) {
		if c.ID == f.Self && c.Image == nil {
			return "the image of " + c.Name() + " does not exist any more: update it with compose"
		}
	}
	if u.engine.Endpoint.SSH != nil {
		return "it reaches the engine by ssh, with a key that is not given to that container: update it with compose"
	}
	if u.engine.Endpoint.Proxy != nil {
		return "it reaches the engine through a proxy, whose credentials are not given to that container: update it with compose"
	}
	if host := u.engine.Endpoint.Host(); loopback(host) && !strings.HasPrefix(mode(f, f.Self), "host") {
		return "it reaches the engine at " + host +
			", which would be another place for that container: use the name of the socket proxy, or update it with compose"
	}
	if _, err := u.HelperCommand(); err != nil {
		return "its program is not known: " + err.Error()
	}
	return ""
}
