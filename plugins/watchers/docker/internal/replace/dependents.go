package replace

import (
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// dependent is a container that has to follow another one.
type dependent struct {
	Container
	relation, action string
}

// dependents returns the containers that are recreated with the target, each after
// those that it depends on, and then those that are restarted.
func dependents(f Facts) []dependent {
	var recreated, restarted []dependent
	met := map[string]bool{f.Target.ID: true}
	queue := []Container{f.Target}
	for len(queue) > 0 {
		base := queue[0]
		queue = queue[1:]
		for _, c := range f.Others {
			relation := relationTo(c, base)
			if met[c.ID] || relation == "" {
				continue
			}
			met[c.ID] = true
			recreated = append(recreated, dependent{c, relation, watcher.StepCreate})
			queue = append(queue, c)
		}
	}
	for _, c := range f.Others {
		// Restarting Dogwatch, or what it needs for that, would interrupt the operation.
		own := c.ID == f.Self || slices.Contains(f.Suspects, c.ID) || f.Proxies[c.ID]
		if !met[c.ID] && !own && c.Wanted() == Running && restartsWith(c, f.Target) {
			restarted = append(restarted, dependent{c, "depends_on", watcher.StepRestart})
		}
	}
	return append(recreated, restarted...)
}

// Following returns the ids of the containers that are recreated with the target.
func Following(f Facts) map[string]bool {
	all := map[string]bool{}
	for _, c := range containers(dependents(f)) {
		all[c.ID] = true
	}
	return all
}

// relationTo says how c depends on base so closely that it does not work with
// another container in its place; "" when it does not.
func relationTo(c, base Container) string {
	same := slices.Contains(Predecessors(base.Labels), c.ID) || slices.Contains(Predecessors(c.Labels), base.ID)
	if c.HostConfig == nil || same {
		return ""
	}
	switch {
	case joins(string(c.HostConfig.NetworkMode), base):
		return "network_mode"
	case joins(string(c.HostConfig.PidMode), base):
		return "pid"
	case joins(string(c.HostConfig.IpcMode), base):
		return "ipc"
	case slices.ContainsFunc(c.HostConfig.Links, func(l string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(l, "/"), ":")
		return name == base.Name()
	}):
		return "links"
	case slices.ContainsFunc(c.HostConfig.VolumesFrom, func(v string) bool { return gives(v, base) }):
		return "volumes_from"
	}
	return ""
}

func joins(mode string, base Container) bool {
	id, found := strings.CutPrefix(mode, "container:")
	return found && id != "" && (id == base.ID || id == base.Name() || len(id) >= 12 && strings.HasPrefix(base.ID, id))
}

// restartsWith reports whether compose is to restart c when base is recreated.
func restartsWith(c, base Container) bool {
	project, service := base.Labels[composeProject], base.Labels[composeService]
	if project == "" || service == "" || c.Labels[composeProject] != project {
		return false
	}
	for entry := range strings.SplitSeq(c.Labels[composeDependsOn], ",") {
		if parts := strings.Split(entry, ":"); len(parts) == 3 && parts[0] == service && parts[2] == "true" {
			return true
		}
	}
	return false
}

// Follow makes a spec refer to new containers where it refers to old ones by id.
func (s Spec) Follow(ids map[string]string) {
	current := func(id string) string {
		for before, after := range ids {
			if id == before || len(id) >= 12 && strings.HasPrefix(before, id) {
				return after
			}
		}
		return id
	}
	follow := func(mode string) string {
		if id, found := strings.CutPrefix(mode, "container:"); found {
			return "container:" + current(id)
		}
		return mode
	}
	for i, entry := range s.Host.VolumesFrom {
		id := donor(entry)
		s.Host.VolumesFrom[i] = current(id) + strings.TrimPrefix(entry, id)
	}
	s.Host.NetworkMode = container.NetworkMode(follow(string(s.Host.NetworkMode)))
	s.Host.PidMode = container.PidMode(follow(string(s.Host.PidMode)))
	s.Host.IpcMode = container.IpcMode(follow(string(s.Host.IpcMode)))
}
