package enginesim

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/go-connections/nat"
)

// Service is what the owner of a container commonly sets.
type Service struct {
	Env     []string          // "TZ=Europe/Berlin"
	Network string            // its only one
	Volumes []string          // "data:/data"
	Ports   map[string]string // those of the machine, by "8080/tcp"
}

// Run returns a container that is so set, and starts again unless it was stopped.
func (s Service) Run(c Container) Container {
	ports := nat.PortMap{}
	for inside, outside := range s.Ports {
		ports[nat.Port(inside)] = []nat.PortBinding{{HostPort: outside}}
	}
	c.Config = &container.Config{Env: s.Env}
	c.Host = &container.HostConfig{
		NetworkMode: container.NetworkMode(s.Network), Binds: s.Volumes, PortBindings: ports,
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyUnlessStopped},
	}
	return c
}

// merge gives a container what its creator did not say and the image does (merge in
// daemon/commit.go of https://github.com/moby/moby).
func (c *Container) merge(image *Image) {
	if c.Host == nil {
		c.Host = &container.HostConfig{NetworkMode: network.NetworkNone}
	}
	host := *c.Host // engines change the restart policy
	c.Host = &host
	labels := map[string]string{}
	maps.Copy(labels, image.platform(c.Platform).Labels)
	maps.Copy(labels, c.Labels)
	c.Labels = labels
	if c.Config != nil {
		c.config = *c.Config
	}
	own, given := &c.config, image.Config
	own.Image, own.Labels = c.Image, labels
	if own.Hostname == "" {
		own.Hostname = c.ID[:min(len(c.ID), 12)]
	}
	own.Env = slices.Clone(own.Env)
	for _, e := range given.Env {
		name, _, _ := strings.Cut(e, "=")
		if !slices.ContainsFunc(own.Env, func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
			own.Env = append(own.Env, e)
		}
	}
	if len(own.Entrypoint) == 0 {
		if len(own.Cmd) == 0 {
			own.Cmd = given.Cmd
		}
		own.Entrypoint = given.Entrypoint
	}
	own.User, own.WorkingDir = cmp.Or(own.User, given.User), cmp.Or(own.WorkingDir, given.WorkingDir)
	own.StopSignal = cmp.Or(own.StopSignal, given.StopSignal)
	own.ExposedPorts = maps.Clone(own.ExposedPorts)
	for port := range given.ExposedPorts {
		if own.ExposedPorts == nil {
			own.ExposedPorts = nat.PortSet{}
		}
		own.ExposedPorts[nat.Port(port)] = struct{}{}
	}
	own.Volumes = maps.Clone(own.Volumes)
	for path := range given.Volumes {
		if own.Volumes == nil {
			own.Volumes = map[string]struct{}{}
		}
		own.Volumes[path] = struct{}{}
	}
	own.Healthcheck = mergeHealth(own.Healthcheck, given.Healthcheck)
}

// mergeHealth returns a health check with each field that is not set from the image.
func mergeHealth(own, given *container.HealthConfig) *container.HealthConfig {
	switch {
	case own == nil:
		return given
	case given == nil:
		return own
	}
	merged := *own
	fields, defaults := reflect.ValueOf(&merged).Elem(), reflect.ValueOf(*given)
	for i := range fields.NumField() {
		if fields.Field(i).IsZero() {
			fields.Field(i).Set(defaults.Field(i))
		}
	}
	return &merged
}

// mountsOf returns what a new container has mounted, by path: what it has from others,
// what its creator says, and a volume without a name for each other path of its image.
func (e *Engine) mountsOf(c *Container) ([]container.MountPoint, error) {
	mounts := map[string]container.MountPoint{}
	for _, entry := range c.Host.VolumesFrom {
		name, _, _ := strings.Cut(entry, ":")
		other := e.find(name)
		if other == nil {
			return nil, fmt.Errorf("no such container: %s", name)
		}
		for _, m := range other.mounts {
			mounts[m.Destination] = m
		}
	}
	for _, bind := range c.Host.Binds {
		source, path, _ := strings.Cut(bind, ":")
		path, mode, _ := strings.Cut(path, ":")
		mounts[path] = mountPoint(source, path, mode != "ro")
	}
	for _, m := range c.Host.Mounts {
		mounts[m.Target] = mountPoint(m.Source, m.Target, !m.ReadOnly)
	}
	for path := range c.config.Volumes {
		if _, mounted := mounts[path]; !mounted {
			mounts[path] = mountPoint("", path, true)
		}
	}
	all := []container.MountPoint{}
	for _, path := range slices.Sorted(maps.Keys(mounts)) {
		m := mounts[path]
		if m.Type == mount.TypeVolume {
			m.Name = cmp.Or(m.Name, strings.TrimPrefix(Digest(fmt.Sprint("volume ", c.ID, path)), "sha256:"))
			m.Source = "/var/lib/docker/volumes/" + m.Name + "/_data"
		}
		all = append(all, m)
	}
	return all, nil
}

// mountPoint is what a source is mounted as: a folder of the host, or a volume, which may have no name.
func mountPoint(source, path string, writable bool) container.MountPoint {
	if strings.HasPrefix(source, "/") {
		return container.MountPoint{Type: mount.TypeBind, Source: source, Destination: path, RW: writable}
	}
	return container.MountPoint{Type: mount.TypeVolume, Name: source, Driver: "local", Destination: path, RW: writable}
}

// networks are the names of the networks of a container.
func (c *Container) networks() []string {
	switch {
	case c.Host == nil || c.Host.NetworkMode.IsContainer():
		return nil
	case len(c.Networks) > 0:
		return slices.Sorted(maps.Keys(c.Networks))
	case c.Host.NetworkMode == "" || c.Host.NetworkMode.IsDefault():
		return []string{network.NetworkBridge}
	}
	return []string{string(c.Host.NetworkMode)}
}
