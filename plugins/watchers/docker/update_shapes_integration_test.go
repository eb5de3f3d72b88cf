package docker

import (
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
)

// newerShapes are what engines since the API version of each can do.
func newerShapes() map[string]shape {
	on := func(mode string, net map[string]*network.EndpointSettings, since string) shape {
		return shape{Host: container.HostConfig{NetworkMode: container.NetworkMode(mode)}, Net: net, since: since}
	}
	mounts := func(since string, stopped bool, all ...mount.Mount) shape {
		return shape{Host: container.HostConfig{Mounts: all}, since: since, stopped: stopped}
	}
	return map[string]shape{
		"own-annotations": {Host: container.HostConfig{Annotations: map[string]string{"org.example": "1"}}, since: "1.43"},
		"start-interval": {Config: container.Config{Healthcheck: &container.HealthConfig{
			Test: []string{"CMD", "/main", "health", "h"}, Interval: time.Hour, StartPeriod: 20 * time.Second,
			StartInterval: 200 * time.Millisecond,
		}}, since: "1.44"},
		"mac-of-endpoint": on("front", map[string]*network.EndpointSettings{"front": {MacAddress: "02:11:22:33:44:66"}},
			"1.44"),
		"many-networks": on("front", map[string]*network.EndpointSettings{
			"front": {
				MacAddress: "02:11:22:33:44:67", Aliases: []string{"web"},
				IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: "10.98.1.79"},
			},
			"back": {
				MacAddress: "02:11:22:33:44:68", Aliases: []string{"app"},
				IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: "10.98.2.79"},
			},
		}, "1.44"),
		"mac-of-second": on("front", map[string]*network.EndpointSettings{
			"front": {}, "back": {MacAddress: "52:54:00:12:34:56"},
		}, "1.44"),
		"flat-bind": mounts("1.44", false, mount.Mount{
			Type: mount.TypeBind, Source: "/tmp", Target: "/host", ReadOnly: true,
			BindOptions: &mount.BindOptions{ReadOnlyNonRecursive: true},
		}),
		"subpath": mounts("1.45", true, mount.Mount{ // the volume has no such folder, in which a start would fail
			Type: mount.TypeVolume, Source: "parts", Target: "/part", VolumeOptions: &mount.VolumeOptions{Subpath: "one"},
		}),
		"endpoint-sysctl": on("front", map[string]*network.EndpointSettings{
			"front": {
				DriverOpts: map[string]string{"com.docker.network.endpoint.sysctls": "net.ipv4.conf.IFNAME.log_martians=1"},
			},
		}, "1.46"),
		"gateway-priority": on("front", map[string]*network.EndpointSettings{
			"front": {GwPriority: 1}, "back": {GwPriority: 100},
		}, "1.48"),
		"image-mount": mounts("1.48", true, mount.Mount{Type: mount.TypeImage, Source: "app:1", Target: "/image"}),
	}
}
