package replace

import (
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// NeedsHelper reports whether the container that Dogwatch runs in is replaced, which
// a process in it cannot do to the end: a helper container does.
func NeedsHelper(f Facts) bool {
	return f.Self != "" && (f.Target.ID == f.Self || Following(f)[f.Self])
}

// HelperName is the name of the container that replaces the one called name.
func HelperName(name, operation string) string { return Backup(name, operation) + "-helper" }

// HelperLabel is the label of helper containers. Its value is the id of the operation.
const HelperLabel = "dogwatch.helper"

// Helper returns the container that carries out an operation instead of self. It runs
// a command in the same image with the same mounts, user and networks, so that it
// reaches the engine in the same way; it has no ports, addresses or names of self.
// The engine starts it again after a crash. Job is a variable of its environment.
func Helper(f Facts, self Container, name, operation string, command []string, job string) Spec {
	spec := Make(self, f.Engine, self.InspectResponse.Image, self.InspectResponse.Image)
	config, host := spec.Config, spec.Host
	spec.Name = name
	config.Entrypoint, config.Cmd = command, nil
	config.Env = append(slices.DeleteFunc(config.Env, func(e string) bool { return !helpful(e) }), job)
	config.Labels = map[string]string{HelperLabel: operation, "dogwatch.watch": "false"}
	config.Healthcheck = &container.HealthConfig{Test: []string{"NONE"}}
	config.ExposedPorts, config.Volumes = nil, nil
	config.Hostname, config.Domainname, config.StopSignal, config.StopTimeout = "", "", "", nil
	config.Tty, config.OpenStdin, config.StdinOnce, config.AttachStdin = false, false, false, false
	config.MacAddress = "" //lint:ignore SA1019 as engines of API 1.41 know it
	host.PortBindings, host.PublishAllPorts, host.Links = nil, false, nil
	host.RestartPolicy = container.RestartPolicy{Name: container.RestartPolicyUnlessStopped}
	host.AutoRemove = false
	host.LogConfig = container.LogConfig{Type: "json-file"} // which can be read, and is where it keeps its steps
	if host.PidMode.IsContainer() {
		host.PidMode = ""
	}
	if host.IpcMode.IsContainer() {
		host.IpcMode = ""
	}
	// A network of another container would go away with that.
	base := networkOwner(f, self)
	host.NetworkMode = base.HostConfig.NetworkMode
	spec.Create, spec.Connect = nil, nil
	for i, e := range endpoints(base) {
		plain := Endpoint{Name: e.Name, Settings: &network.EndpointSettings{}}
		if i == 0 || f.Engine.ManyNetworks {
			spec.Create = append(spec.Create, plain)
		} else {
			spec.Connect = append(spec.Connect, plain)
		}
	}
	return spec
}

// helpful reports whether an environment variable is for the compose command, which
// a helper may run. The others are settings and secrets of Dogwatch.
func helpful(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return name == "PATH" || name == "HOME" || name == "TZ" || strings.HasPrefix(name, "DOCKER_")
}

// networkOwner returns the container whose network c has: c itself, or one that it joins.
func networkOwner(f Facts, c Container) Container {
	all := append([]Container{f.Target}, f.Others...)
	for range all { // which ends if two should join each other
		i := slices.IndexFunc(all, func(o Container) bool {
			return o.ID != c.ID && joins(string(c.HostConfig.NetworkMode), o)
		})
		if i < 0 {
			return c
		}
		c = all[i]
	}
	return c
}

// helperBlocks are the reasons why no helper can carry out the operation either.
func helperBlocks(f Facts, deps []dependent, add func(code, text string, args ...any)) {
	for _, c := range append([]Container{f.Target}, containers(deps)...) {
		if f.Proxies[c.ID] {
			add(BlockPath,
				"Dogwatch reaches the engine through %s, and would be cut off in the middle: update it with compose", c.Name())
			return
		}
	}
	if suspects := suspected(f, deps); len(suspects) > 0 {
		add(BlockSelf,
			"Dogwatch cannot tell in which of the containers %s it runs, which share a network, and may stop "+
				"itself for good: update %s with compose", strings.Join(suspects, ", "), f.Target.Name())
	}
	if NeedsHelper(f) && f.Engine.Podman {
		add(BlockSelf, "Dogwatch runs in %s, and does not replace itself on Podman: make it a quadlet with "+
			"AutoUpdate=registry, and use podman auto-update", f.Target.Name())
	}
	if NeedsHelper(f) && f.NoHelper != "" {
		add(BlockSelf, "Dogwatch runs in %s, and cannot start the helper container that would replace it: %s",
			f.Target.Name(), f.NoHelper)
	}
}

// suspected returns the names of the containers in one of which Dogwatch runs, if the update
// stops one of them, and it is not known in which.
func suspected(f Facts, deps []dependent) []string {
	stopped := map[string]bool{f.Target.ID: true}
	for _, d := range containers(deps) {
		stopped[d.ID] = true
	}
	var names []string
	for _, c := range append([]Container{f.Target}, f.Others...) {
		if slices.Contains(f.Suspects, c.ID) {
			names = append(names, c.Name())
		}
	}
	if !slices.ContainsFunc(f.Suspects, func(id string) bool { return stopped[id] }) {
		return nil
	}
	return names
}

// handover are the steps of a plan that a helper container carries out.
func handover(l list, f Facts) []watcher.Step {
	name := f.Target.Name()
	text := "have a helper container replace " + name +
		", in which Dogwatch runs, and return to this one if the new one does not work"
	if f.Target.ID != f.Self {
		text = "have a helper container replace " + name +
			" and Dogwatch, which depends on it, and return to these if the new ones do not work"
	}
	l.add(watcher.StepHandover, name, text)
	return l
}
