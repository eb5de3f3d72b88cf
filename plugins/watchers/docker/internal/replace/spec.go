package replace

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/strslice"
	"github.com/docker/go-connections/nat"
)

// Spec is a container to be created.
type Spec struct {
	Name string
	// Config and Host are for the request that creates it.
	Config *container.Config
	Host   *container.HostConfig
	// Create are the networks of that request, Connect those that it is connected to afterwards.
	Create, Connect []Endpoint
}

// Endpoint is the connection to a network.
type Endpoint struct {
	Name     string
	Settings *network.EndpointSettings
}

// Make returns the container that takes the place of c with an image called reference,
// whose id is imageID. It has what a user set: what equals a default of the old image
// is left out, so that those of the new image apply. Nothing of c is changed or shared.
func Make(c Container, engine Engine, reference, imageID string) Spec {
	config, host := clone(c.Config), clone(c.HostConfig)
	config.Image = reference
	if c.Image != nil && c.Image.Config != nil {
		dropDefaults(config, c)
	}
	// Engines publish only what is exposed, and the new image may expose something else.
	for port := range host.PortBindings {
		if config.ExposedPorts == nil {
			config.ExposedPorts = nat.PortSet{}
		}
		config.ExposedPorts[port] = struct{}{}
	}
	if config.Labels == nil {
		config.Labels = map[string]string{}
	}
	delete(config.Labels, PredecessorsLabel) // see Succeed
	if _, found := config.Labels[composeImage]; found {
		config.Labels[composeImage] = imageID
	}
	if config.Hostname == short(c.ID) {
		config.Hostname = ""
	}
	CarryVolumes(c, host)
	spec := Spec{Name: c.Name(), Config: config, Host: host}
	mac := config.MacAddress //lint:ignore SA1019 engines before API 1.44 know nothing else
	switch mode := host.NetworkMode; {
	case mode.IsContainer():
		// All of it is that of the other container.
		config.Hostname, config.Domainname, config.ExposedPorts = "", "", nil
		//lint:ignore SA1019 as above
		config.MacAddress = ""
	case mode.IsHost() && host.UTSMode.IsHost():
		config.Hostname, config.Domainname = "", ""
	}
	all := endpoints(c)
	if engine.ManyNetworks || engine.Podman {
		config.MacAddress = "" //lint:ignore SA1019 as above
		for i := range all {
			if isPrimary(c, all[i].Name) {
				all[i].Settings.MacAddress = mac
			} else {
				all[i].Settings.MacAddress = ownMAC(c.NetworkSettings.Networks[all[i].Name])
			}
		}
		spec.Create = all
		return spec
	}
	if len(all) > 0 {
		spec.Create, spec.Connect = all[:1], all[1:]
	}
	return spec
}

// clone copies what is made of JSON.
func clone[T any](v *T) *T {
	out := new(T)
	if v == nil {
		return out
	}
	var text bytes.Buffer
	// What was decoded from JSON can be encoded and decoded again.
	_ = json.NewEncoder(&text).Encode(v)
	_ = json.NewDecoder(&text).Decode(out)
	return out
}

// dropDefaults removes from config what the image would give it anyway, apart from labels
// of compose that count although the image has them: another image may not.
func dropDefaults(config *container.Config, c Container) {
	defaults := c.Image.Config
	config.Env = slices.DeleteFunc(config.Env, func(e string) bool { return slices.Contains(defaults.Env, e) })
	dropCommand(config, defaults.Entrypoint, defaults.Cmd)
	if config.WorkingDir == defaults.WorkingDir {
		config.WorkingDir = ""
	}
	if config.User == defaults.User {
		config.User = ""
	}
	if config.StopSignal == defaults.StopSignal {
		config.StopSignal = ""
	}
	for name, value := range defaults.Labels {
		if _, counts := c.Labels[name]; !counts && config.Labels[name] == value {
			delete(config.Labels, name)
		}
	}
	for port := range defaults.ExposedPorts {
		delete(config.ExposedPorts, nat.Port(port))
	}
	for path := range defaults.Volumes {
		delete(config.Volumes, path)
	}
	config.Healthcheck = ownHealth(config.Healthcheck, defaults.Healthcheck)
	if slices.Equal(config.Shell, defaults.Shell) {
		config.Shell = nil
	}
	if sameJSON(config.OnBuild, defaults.OnBuild) {
		config.OnBuild = nil
	}
}

// ownHealth returns what a user set of a health check, nil for nothing: engines take each
// field that is zero from the image (merge in daemon/commit.go of Moby). Environment, labels,
// ports and volumes are merged by their names, and all else is either the user's or the image's.
func ownHealth(set, image *container.HealthConfig) *container.HealthConfig {
	if set == nil || image == nil {
		return set
	}
	own := *set
	fields, defaults := reflect.ValueOf(&own).Elem(), reflect.ValueOf(*image)
	for i := range fields.NumField() {
		if reflect.DeepEqual(fields.Field(i).Interface(), defaults.Field(i).Interface()) {
			fields.Field(i).SetZero()
		}
	}
	if reflect.ValueOf(own).IsZero() {
		return nil
	}
	return &own
}

// dropCommand follows how engines combine the two: a container without an entrypoint
// of its own has the image's, and its command too if it has none.
func dropCommand(config *container.Config, entrypoint, command []string) {
	switch {
	case len(config.Entrypoint) == 0 && len(entrypoint) > 0:
		config.Entrypoint = strslice.StrSlice{""} // how an entrypoint is switched off
	case !slices.Equal(config.Entrypoint, entrypoint):
	case slices.Equal(config.Cmd, command):
		config.Entrypoint, config.Cmd = nil, nil
		config.ArgsEscaped = false
	case len(config.Cmd) > 0:
		config.Entrypoint = nil
	}
}

func sameJSON(a, b any) bool {
	var x, y any
	one, _ := json.Marshal(a)
	two, _ := json.Marshal(b)
	_, _ = json.Unmarshal(one, &x), json.Unmarshal(two, &y)
	return reflect.DeepEqual(x, y)
}
