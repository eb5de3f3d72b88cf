package update

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/internal/heldfile"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
)

// shared is a folder, or a file, of the host that a running container can write.
type shared struct{ container, source string }

// composeGuard refuses compose files that a running container can write, and may so have
// made, unless the option composetrusted names the container. Dogwatch's own container
// has them mounted to edit them. It looks at the mounts when it is used first.
func (u *Updater) composeGuard(self string, all []container.Summary) heldfile.Guard {
	type view struct {
		own    hostPaths
		shared []shared
	}
	look := sync.OnceValue(func() (v view) {
		v.own = hostPathsOf(self, all)
		for _, c := range all {
			name := engine.Name(c)
			if c.ID == self || !running(c.State) || slices.Contains(u.ComposeTrusted, name) {
				continue
			}
			for _, m := range c.Mounts {
				if m.RW && m.Source != "" { // a tmpfs has no source
					v.shared = append(v.shared, shared{name, v.own.resolved(m.Source)})
				}
			}
		}
		return v
	})
	return func(path string) error {
		v := look()
		host, known := v.own.host(path)
		if !known {
			return nil
		}
		for _, s := range v.shared {
			if _, below := cutFolder(host, s.source); below {
				return compose.Shared(path, s.container, s.source)
			}
		}
		return nil
	}
}

// running reports whether processes of a container exist.
func running(state container.ContainerState) bool {
	return state == container.StateRunning || state == container.StatePaused || state == container.StateRestarting
}

// hostPaths are the folders that Dogwatch sees, and where they are on the host: the mounts
// of its container, or all of the host where it runs in none.
type hostPaths []container.MountPoint

func hostPathsOf(self string, all []container.Summary) hostPaths {
	for _, c := range all {
		if c.ID != self {
			continue
		}
		own := hostPaths{{Destination: "/"}} // the container's own files are nowhere on the host
		for _, m := range c.Mounts {
			if real, err := filepath.EvalSymlinks(m.Destination); err == nil {
				m.Destination = real
			}
			own = append(own, m)
		}
		// A mount covers what an outer one has there.
		slices.SortStableFunc(own, func(a, b container.MountPoint) int { return len(b.Destination) - len(a.Destination) })
		return own
	}
	return hostPaths{{Source: "/", Destination: "/"}}
}

// host returns the path on the host of a path here. It is false for one that is not on the host.
func (own hostPaths) host(path string) (string, bool) {
	for _, m := range own {
		if rest, below := cutFolder(path, m.Destination); below {
			return filepath.Join(m.Source, rest), m.Source != ""
		}
	}
	return "", false
}

// resolved returns a path on the host without symbolic links, as far as it is seen from here.
func (own hostPaths) resolved(source string) string {
	for _, m := range own {
		rest, below := cutFolder(source, m.Source)
		if m.Source == "" || !below {
			continue
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(m.Destination, rest)); err == nil {
			if path, known := own.host(real); known {
				return path
			}
		}
	}
	return filepath.Clean(source)
}

// cutFolder returns what follows a folder in a path. It is false for a path that is neither the folder nor below it.
func cutFolder(path, folder string) (string, bool) {
	rest, found := strings.CutPrefix(path, strings.TrimSuffix(folder, "/"))
	return rest, found && (rest == "" || strings.HasPrefix(rest, "/"))
}
