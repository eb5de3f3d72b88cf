package replace

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// carried are the settings that the new container takes over. Values of environment
// variables, labels and commands are left out: they may be secret.
func carried(c Container, spec Spec) []watcher.Setting {
	var all []watcher.Setting
	add := func(name, value string) { all = append(all, watcher.Setting{Name: name, Value: value}) }
	text := func(name, value string) {
		if value != "" {
			add(name, value)
		}
	}
	for _, e := range spec.Config.Env {
		name, _, _ := strings.Cut(e, "=")
		add("env "+name, "")
	}
	for _, l := range sortedKeys(spec.Config.Labels) {
		add("label "+l, "")
	}
	if len(spec.Config.Entrypoint) > 0 {
		add("entrypoint", "")
	}
	if len(spec.Config.Cmd) > 0 {
		add("command", "")
	}
	text("hostname", spec.Config.Hostname)
	text("user", spec.Config.User)
	text("working directory", spec.Config.WorkingDir)
	text("stop signal", spec.Config.StopSignal)
	if spec.Config.Healthcheck != nil {
		add("health check", "")
	}
	for _, m := range c.Mounts {
		source := m.Name
		if source == "" {
			source = m.Source
		}
		add(string(m.Type)+" "+m.Destination, source)
	}
	var ports []watcher.Setting
	for port, bindings := range spec.Host.PortBindings {
		for _, b := range bindings {
			ports = append(ports, watcher.Setting{Name: "port " + string(port), Value: strings.TrimPrefix(b.HostIP+":"+b.HostPort, ":")})
		}
	}
	slices.SortFunc(ports, func(a, b watcher.Setting) int { return strings.Compare(a.Name+a.Value, b.Name+b.Value) })
	all = append(all, ports...)
	for _, e := range slices.Concat(spec.Create, spec.Connect) {
		address := ""
		if e.Settings.IPAMConfig != nil {
			address = e.Settings.IPAMConfig.IPv4Address
		}
		add("network "+e.Name, address)
	}
	text("restart", string(spec.Host.RestartPolicy.Name))
	return all
}

// changes are the defaults that differ between two images; none when one of them is not known.
func changes(image *Image, after *sdk.ImageConfig) []watcher.Change {
	if image == nil || image.Config == nil || after == nil {
		return nil
	}
	before := image.Config
	var all []watcher.Change
	add := func(name, a, b string) {
		if a != b {
			all = append(all, watcher.Change{Name: name, Before: a, After: b})
		}
	}
	add("user", before.User, after.User)
	add("entrypoint", strings.Join(before.Entrypoint, " "), strings.Join(after.Entrypoint, " "))
	add("command", strings.Join(before.Cmd, " "), strings.Join(after.Cmd, " "))
	add("working directory", before.WorkingDir, after.WorkingDir)
	add("stop signal", before.StopSignal, after.StopSignal)
	check := ""
	if before.Healthcheck != nil {
		check = strings.Join(before.Healthcheck.Test, " ")
	}
	add("health check", check, strings.Join(after.Healthcheck, " "))
	sets := func(kind string, a, b map[string]string) {
		for _, name := range sortedKeys(union(a, b)) {
			add(kind+" "+name, a[name], b[name])
		}
	}
	sets("env", pairs(before.Env), pairs(after.Env))
	sets("port", present(sortedKeys(before.ExposedPorts)), present(after.ExposedPorts))
	sets("volume", present(sortedKeys(before.Volumes)), present(after.Volumes))
	return all
}

func pairs(env []string) map[string]string {
	all := map[string]string{}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		all[name] = value
	}
	return all
}

func present(names []string) map[string]string {
	all := map[string]string{}
	for _, n := range names {
		all[n] = n
	}
	return all
}

func union(a, b map[string]string) map[string]string {
	all := map[string]string{}
	for n := range a {
		all[n] = n
	}
	for n := range b {
		all[n] = n
	}
	return all
}
