// Package self finds out in which container of an engine this process runs.
package self

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
)

// Traces are what a process sees of the container that it runs in.
type Traces struct {
	Cgroup   string // /proc/self/cgroup, see cgroups(7)
	Mounts   string // /proc/self/mountinfo, see proc_pid_mountinfo(5)
	Hostname string
}

// Here are those of this process. Elsewhere than on Linux there are few.
func Here() Traces {
	cgroup, _ := os.ReadFile("/proc/self/cgroup")
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	hostname, _ := os.Hostname()
	return Traces{string(cgroup), string(mounts), hostname}
}

// Inspector describes a container.
type Inspector interface {
	Container(ctx context.Context, id string) (container.InspectResponse, error)
}

// Containers returns the ids of those of all containers that may have left the traces: none if the process runs
// in none of them, and more than one if that is not sure. Their own control group names one. Its files for the
// network, and its hostname, are those of the container whose network it has: then the mounts tell the
// containers apart that share that.
func (t Traces) Containers(ctx context.Context, e Inspector, all []container.Summary) []string {
	for _, c := range all {
		if c.ID != "" && strings.Contains(t.Cgroup, c.ID) {
			return []string{c.ID}
		}
	}
	found := networked(t, all)
	if len(found) > 1 {
		if layered := t.layered(ctx, e, found); len(layered) == 1 {
			return ids(layered)
		}
		mounted := slices.DeleteFunc(slices.Clone(found), func(c container.Summary) bool { return !t.mounted(c) })
		if len(mounted) == 1 {
			return ids(mounted)
		}
	}
	return ids(found)
}

func ids(all []container.Summary) []string {
	var found []string
	for _, c := range all {
		found = append(found, c.ID)
	}
	return found
}

// ownMount matches the host's path of a file that an engine mounts into each of
// its containers: Docker ".../containers/ID/hostname", Podman
// ".../overlay-containers/ID/userdata/hostname".
var ownMount = lazyregexp.New(`containers/([0-9a-f]{64})/(?:userdata/)?(?:hostname|hosts|resolv\.conf) /etc/`)

// networked returns the container whose network the traces show, and those that join it. A
// hostname of its own hides its id there, but not among the mounts, and the reverse holds
// for some engines.
func networked(t Traces, all []container.Summary) []container.Summary {
	mounted := map[string]bool{}
	for _, m := range ownMount().FindAllStringSubmatch(t.Mounts, -1) {
		mounted[m[1]] = true
	}
	index := slices.IndexFunc(all, func(c container.Summary) bool {
		return mounted[c.ID] || c.ID != "" && t.Hostname == engine.Short(c.ID)
	})
	if index < 0 {
		return nil
	}
	owner := all[index]
	found := []container.Summary{owner}
	for _, c := range all {
		mode := container.NetworkMode(c.HostConfig.NetworkMode)
		joined := mode.ConnectedContainer()
		if mode.IsContainer() && joined != "" && engine.Runs(c) &&
			(strings.HasPrefix(owner.ID, joined) || joined == engine.Name(owner)) {
			found = append(found, c)
		}
	}
	return found
}

// upperDir matches the writable layer of the root in a line of mounts: "…/LAYER/diff".
var upperDir = lazyregexp.New(`(?m)^\S+ \S+ \S+ \S+ / .*[ ,]upperdir=([^, \n]+)`)

// layered returns those containers whose writable layer the traces have as their root. Not all
// storage drivers, and no engines with the image store of containerd, say where it is.
func (t Traces) layered(ctx context.Context, e Inspector, all []container.Summary) []container.Summary {
	root := upperDir().FindStringSubmatch(t.Mounts)
	if root == nil {
		return nil
	}
	// The engine mounts by a relative path where there are many layers.
	layer := path.Join("/", path.Base(path.Dir(root[1])), path.Base(root[1]))
	return slices.DeleteFunc(slices.Clone(all), func(c container.Summary) bool {
		got, err := e.Container(ctx, c.ID)
		return err != nil || got.ContainerJSONBase == nil || !strings.HasSuffix(got.GraphDriver.Data["UpperDir"], layer)
	})
}

// mounted reports whether the traces have what the container has mounted, and nothing else
// that engines mount from a folder of the host.
func (t Traces) mounted(c container.Summary) bool {
	declared := map[string]bool{}
	seen := map[string]string{} // the folder within its file system, by mount point
	for line := range strings.Lines(t.Mounts) {
		if f := strings.Fields(line); len(f) > 4 {
			seen[f[4]] = f[3]
		}
	}
	for _, m := range c.Mounts {
		target := path.Clean(m.Destination)
		if real, err := filepath.EvalSymlinks(target); err == nil {
			target = real
		}
		declared[target] = true
		if from, found := seen[target]; !found ||
			m.Source != "" && !strings.HasSuffix(m.Source, strings.TrimSuffix(from, "/")) {
			return false
		}
	}
	for target, from := range seen {
		if from != "/" && !declared[target] && !systemMount(target) {
			return false
		}
	}
	return true
}

// systemMount reports whether engines mount something there by themselves.
func systemMount(target string) bool {
	for _, folder := range []string{"/proc", "/sys", "/dev"} {
		if target == folder || strings.HasPrefix(target, folder+"/") {
			return true
		}
	}
	return slices.Contains([]string{"/", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/sbin/docker-init"}, target)
}
