package replace

import (
	"path"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
)

// Among returns a container that knows which of the others it has volumes from. Those that
// do not exist any more, and its own predecessors, are left out when it is created anew: what
// it has from them is its own by now.
func (c Container) Among(others []Container) Container {
	c.donors, c.gone = nil, nil
	for _, entry := range c.HostConfig.VolumesFrom {
		i := slices.IndexFunc(others, func(o Container) bool { return gives(entry, o) || donor(entry) == o.Name() })
		if i < 0 || slices.Contains(Predecessors(c.Labels), others[i].ID) {
			c.gone = append(c.gone, entry)
		} else {
			c.donors = append(c.donors, others[i])
		}
	}
	return c
}

// donor is the container that an entry of volumes_from names: "NAME:ro" or "ID".
func donor(entry string) string {
	name, _, _ := strings.Cut(entry, ":")
	return name
}

// gives reports whether an entry of volumes_from has the id of a container, as compose writes it.
func gives(entry string, c Container) bool {
	id := donor(entry)
	return len(id) >= 12 && strings.HasPrefix(c.ID, id)
}

// CarryVolumes gives the new container the volumes of the old one that have no name, and would
// be new and empty ones otherwise. They stay without a name, so that they are removed with it
// (docker rm -v), since engines take them from the old container as they are. From one with
// another kind of mount (tmpfs, image) engines take nothing: then each is named by its id.
func CarryVolumes(c Container, host *container.HostConfig) {
	host.VolumesFrom = slices.DeleteFunc(host.VolumesFrom, func(v string) bool { return slices.Contains(c.gone, v) })
	own := ownVolumes(c)
	if len(own) == 0 && len(c.gone) == 0 {
		return
	}
	host.Mounts = slices.DeleteFunc(host.Mounts, func(h mountSpec) bool {
		return h.Source == "" && slices.ContainsFunc(own, func(m container.MountPoint) bool { return mountedAt(h, m) })
	})
	other := func(m container.MountPoint) bool { return m.Type != mount.TypeVolume && m.Type != mount.TypeBind }
	if !slices.ContainsFunc(c.Mounts, other) {
		// What others give comes after it, and counts.
		host.VolumesFrom = slices.Insert(host.VolumesFrom, 0, c.ID)
		return
	}
	for _, m := range own {
		bind := m.Name + ":" + m.Destination
		if !m.RW {
			bind += ":ro"
		}
		host.Binds = append(host.Binds, bind)
	}
}

// ownVolumes returns the volumes that nothing in HostConfig names, in the order of their paths:
// those with a name of the engine's, and what a container that is gone has left.
func ownVolumes(c Container) []container.MountPoint {
	if c.HostConfig == nil {
		return nil
	}
	found := slices.DeleteFunc(slices.Clone(c.Mounts), func(m container.MountPoint) bool {
		unnamed := isVolumeID(m.Name) || len(c.gone) > 0
		return m.Type != mount.TypeVolume || !unnamed || named(c, m) || given(c, m)
	})
	slices.SortFunc(found, func(a, b container.MountPoint) int { return strings.Compare(a.Destination, b.Destination) })
	return found
}

// named reports whether HostConfig names a volume.
func named(c Container, m container.MountPoint) bool {
	return slices.ContainsFunc(c.HostConfig.Binds, func(b string) bool { return strings.HasPrefix(b, m.Name+":") }) ||
		slices.ContainsFunc(c.HostConfig.Mounts, func(h mountSpec) bool { return h.Source == m.Name })
}

// given reports whether a container has a volume from another one.
func given(c Container, m container.MountPoint) bool {
	return slices.ContainsFunc(c.donors, func(d Container) bool {
		return slices.ContainsFunc(d.Mounts, func(o container.MountPoint) bool {
			return o.Name == m.Name && o.Destination == m.Destination
		})
	})
}

// mountedAt reports whether a mount is what a setting says. Engines clean the path of the setting.
func mountedAt(h mountSpec, m container.MountPoint) bool {
	return h.Type == mount.TypeVolume && path.Clean(h.Target) == path.Clean(m.Destination)
}

func isVolumeID(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}
