package replace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"

	"github.com/dogwatch/dogwatch/internal/imagediff"
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
	mounts := slices.Clone(c.Mounts) // the engine has no order
	slices.SortFunc(mounts, func(a, b container.MountPoint) int { return strings.Compare(a.Destination, b.Destination) })
	for _, m := range mounts {
		source := cmp.Or(m.Name, m.Source)
		add(string(m.Type)+" "+m.Destination, source)
	}
	for _, f := range Placed(c) {
		add("file "+f.Path, sizeText(f.Size))
	}
	var ports []watcher.Setting
	for port, bindings := range spec.Host.PortBindings {
		for _, b := range bindings {
			ports = append(ports, watcher.Setting{
				Name: "port " + string(port), Value: strings.TrimPrefix(b.HostIP+":"+b.HostPort, ":"),
			})
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

// changes are the defaults that differ between two images, without what the engine does
// not say of the one that runs; none when one of them is not known.
func changes(image *Image, after *sdk.ImageConfig) []watcher.Change {
	if image == nil || image.Config == nil || after == nil {
		return nil
	}
	var all []watcher.Change
	for _, c := range imagediff.Compare(defaults(image.Config), comparable(*after)).Changes {
		all = append(all, watcher.Change{Name: c.Title(), Before: c.Before, After: c.After})
	}
	return all
}

// imageWarnings say which of those changes may break a container: those that its own
// settings and mounts leave to the image.
func imageWarnings(c Container, own Spec, after *sdk.ImageConfig) []watcher.Reason {
	if c.Image == nil || c.Image.Config == nil || after == nil {
		return nil
	}
	left := func(config sdk.ImageConfig) sdk.ImageConfig {
		if own.Config.User != "" {
			config.User = ""
		}
		if own.Config.WorkingDir != "" {
			config.WorkingDir = ""
		}
		if len(own.Config.Entrypoint) > 0 { // which drops the command of the image too
			config.Entrypoint, config.Cmd = nil, nil
		}
		if len(own.Config.Cmd) > 0 {
			config.Cmd = nil
		}
		if h := own.Config.Healthcheck; h != nil && len(h.Test) > 0 {
			config.Healthcheck = nil
		}
		config.Env = slices.DeleteFunc(slices.Clone(config.Env), func(e string) bool {
			name, _, _ := strings.Cut(e, "=")
			return slices.ContainsFunc(own.Config.Env, func(o string) bool { return strings.HasPrefix(o, name+"=") })
		})
		config.Volumes = slices.DeleteFunc(slices.Clone(config.Volumes), func(v string) bool {
			return slices.ContainsFunc(c.Mounts, func(m container.MountPoint) bool { return m.Destination == v })
		})
		return config
	}
	var all []watcher.Reason
	for _, w := range imagediff.Compare(left(defaults(c.Image.Config)), left(comparable(*after))).Warnings {
		all = append(all, watcher.Reason{Code: w.Code, Text: c.Name() + " " + w.Text})
	}
	return all
}

// comparable is a configuration without what the engine does not say of the image that runs.
func comparable(c sdk.ImageConfig) sdk.ImageConfig {
	c.Labels, c.Platform, c.Base, c.Size, c.Layers = nil, sdk.Platform{}, "", 0, nil
	return c
}

// defaults are what an image gives to containers, as the engine says it.
func defaults(c *dockerspec.DockerOCIImageConfig) sdk.ImageConfig {
	all := sdk.ImageConfig{
		User: c.User, Env: c.Env, Entrypoint: c.Entrypoint, Cmd: c.Cmd, WorkingDir: c.WorkingDir, StopSignal: c.StopSignal,
		ExposedPorts: sortedKeys(c.ExposedPorts), Volumes: sortedKeys(c.Volumes),
	}
	if c.Healthcheck != nil && len(c.Healthcheck.Test) > 0 && c.Healthcheck.Test[0] != "NONE" {
		all.Healthcheck = c.Healthcheck.Test
	}
	return all
}
