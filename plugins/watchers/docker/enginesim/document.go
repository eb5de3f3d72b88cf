package enginesim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/go-connections/nat"
)

// filters are the filters of a request: any value of each name must match.
type filters map[string]map[string]bool

func filtersOf(r *http.Request) (f filters, problem string) {
	text := r.URL.Query().Get("filters")
	if text == "" {
		return nil, ""
	}
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return nil, "invalid filter: " + err.Error()
	}
	return f, ""
}

func (f filters) accept(name, value string) bool {
	return len(f[name]) == 0 || f[name][value]
}

// acceptLabels matches "name" and "name=value".
func (f filters) acceptLabels(labels map[string]string) bool {
	for wanted := range f["label"] {
		name, value, valued := strings.Cut(wanted, "=")
		if got, has := labels[name]; !has || (valued && got != value) {
			return false
		}
	}
	return true
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
	Variant      string `json:"variant,omitempty"`
}

type descriptor struct {
	MediaType string   `json:"mediaType"`
	Digest    string   `json:"digest"`
	Size      int64    `json:"size"`
	Platform  platform `json:"platform"`
}

type containerSummary struct {
	ID         string `json:"Id"`
	Names      []string
	Image      string
	ImageID    string
	Manifest   *descriptor `json:"ImageManifestDescriptor,omitempty"`
	Command    string
	Created    int64
	Ports      []container.Port
	Labels     map[string]string
	State      string
	Status     string
	HostConfig map[string]string
	Mounts     []container.MountPoint
}

// listContainers is newest first, and running ones only unless the request is for all.
func (e *Engine) listContainers(r *http.Request, version string) (any, string) {
	wanted, problem := filtersOf(r)
	if problem != "" {
		return nil, problem
	}
	all := r.URL.Query().Get("all")
	everything := all == "1" || strings.EqualFold(all, "true") || len(wanted["status"]) > 0
	list := []containerSummary{}
	for _, c := range slices.Backward(e.containers) {
		switch {
		case !everything && !c.runs(),
			!wanted.accept("id", c.ID), !wanted.accept("name", c.Name), !wanted.accept("status", c.State),
			!wanted.acceptLabels(c.Labels):
			continue
		}
		s := containerSummary{
			ID: c.ID, Image: c.Image, ImageID: c.imageID, Command: "/main", Created: c.born.Unix(),
			Ports: c.ports(), Labels: orEmpty(c.Labels), State: c.State, Status: c.status(e.config.Now()),
			HostConfig: map[string]string{"NetworkMode": string(c.Host.NetworkMode)}, Mounts: c.mounts,
		}
		for _, alias := range c.Aliases {
			s.Names = append(s.Names, "/"+alias)
		}
		s.Names = append(s.Names, "/"+c.Name)
		image := e.images[c.imageID]
		if now := e.resolve(c.Image); now == nil || now.ID != c.imageID {
			s.Image = c.imageID // the reference means another image by now
		}
		if image != nil && !less(version, "1.48") {
			own := image.platform(c.Platform)
			s.Manifest = &descriptor{
				MediaType: "application/vnd.oci.image.manifest.v1+json", Size: 424,
				Digest:   Digest("manifest " + image.ID + c.Platform),
				Platform: platform{OS: own.OS, Architecture: own.Architecture, Variant: own.Variant},
			}
		}
		list = append(list, s)
	}
	return list, ""
}

// inspect describes a container at a time, with the size of what it has written if that is wanted.
func (c *Container) inspect(now time.Time, sized bool) any {
	state := map[string]any{
		"Status": c.State, "Running": c.runs(), "Paused": c.State == Paused,
		"Restarting": false, "OOMKilled": false, "Dead": false, "ExitCode": 0, "Error": "",
		"StartedAt": c.started.UTC().Format(time.RFC3339Nano), "FinishedAt": c.finished.UTC().Format(time.RFC3339Nano),
	}
	if h := c.health(now); h != nil {
		state["Health"] = h
	}
	document := map[string]any{
		"Id": c.ID, "Name": "/" + c.Name, "Image": c.imageID, "Created": c.born.UTC().Format(time.RFC3339Nano),
		"Path": "/main", "Args": []string{}, "State": state, "RestartCount": 0,
		"Config": c.config, "HostConfig": c.Host, "Mounts": c.mounts,
		"NetworkSettings": map[string]any{"Ports": c.published(), "Networks": c.endpoints()},
	}
	if sized {
		document["SizeRw"], document["SizeRootFs"] = 0, 1<<20
	}
	return document
}

// published are the ports of the host at which a running container is reached.
func (c *Container) published() nat.PortMap {
	all := nat.PortMap{}
	for port, bindings := range c.Host.PortBindings {
		if _, exposed := c.config.ExposedPorts[port]; !exposed || !c.runs() {
			continue
		}
		for _, b := range bindings {
			b.HostIP = cmp.Or(b.HostIP, "0.0.0.0")
			all[port] = append(all[port], b)
		}
	}
	return all
}

// ports is published as the list of containers has it.
func (c *Container) ports() []container.Port {
	all, published := []container.Port{}, c.published()
	for _, port := range slices.Sorted(maps.Keys(published)) {
		for _, b := range published[port] {
			public, _ := strconv.ParseUint(b.HostPort, 10, 16) // what is no number is none
			all = append(all, container.Port{
				IP: b.HostIP, PrivatePort: uint16(port.Int()), PublicPort: uint16(public), Type: port.Proto(),
			})
		}
	}
	return all
}

// endpoints are the networks of a container. It has an address in each while it runs.
func (c *Container) endpoints() map[string]any {
	all := map[string]any{}
	for i, name := range c.networks() {
		e := network.EndpointSettings{}
		if given := c.Networks[name]; given != nil {
			e = *given
		}
		if c.runs() && name != network.NetworkNone && name != network.NetworkHost {
			e.Gateway, e.IPPrefixLen = fmt.Sprintf("172.%d.0.1", 18+i), 16
			e.IPAddress = fmt.Sprintf("172.%d.%d.%d", 18+i, c.serial>>8&255, c.serial&255)
			e.MacAddress = fmt.Sprintf("02:42:ac:%02x:%02x:%02x", 18+i, c.serial>>8&255, c.serial&255)
		}
		all[name] = map[string]any{
			"IPAMConfig": e.IPAMConfig, "Links": e.Links, "Aliases": e.Aliases, "NetworkID": networkID(name),
			"DriverOpts": e.DriverOpts, "Gateway": e.Gateway, "IPAddress": e.IPAddress, "IPPrefixLen": e.IPPrefixLen,
			"MacAddress": e.MacAddress,
		}
	}
	return all
}

func networkID(name string) string { return strings.TrimPrefix(Digest("network "+name), "sha256:") }

// listNetworks is sorted by name.
func (e *Engine) listNetworks() any {
	list := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(e.networks)) {
		list = append(list, map[string]any{"Name": name, "Id": networkID(name), "Scope": "local", "Driver": "bridge"})
	}
	return list
}

// listImages is sorted by id. Engines before API 1.43 give images without a name "<none>" for one.
func (e *Engine) listImages(version string) any {
	list := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(e.images)) {
		i := e.images[id]
		tags, digests := orNone(i.Tags), orNone(i.Digests)
		if less(version, "1.43") && len(tags) == 0 {
			tags = []string{"<none>:<none>"}
			if len(digests) == 0 {
				digests = []string{"<none>@<none>"}
			}
		}
		list = append(list, map[string]any{
			"Id": i.ID, "ParentId": "", "RepoTags": tags, "RepoDigests": digests, "Created": i.Created.Unix(),
			"Size": cmp.Or(i.Size, 1<<20), "SharedSize": -1, "Containers": -1, "Labels": orEmpty(i.Labels),
		})
	}
	return list
}

// inspect describes an image: the platform that is asked for (API 1.49), or its own.
func (i *Image) inspect(r *http.Request, version string) any {
	own := *i
	if text := r.URL.Query().Get("platform"); text != "" && !less(version, "1.49") {
		var wanted platform
		_ = json.Unmarshal([]byte(text), &wanted) // without one it is the image's own
		own = *i.platform(wanted.OS + "/" + wanted.Architecture)
	}
	own.Config.Labels = own.Labels
	document := map[string]any{
		"Id": i.ID, "RepoTags": orNone(i.Tags), "RepoDigests": orNone(i.Digests),
		"Created": own.Created.UTC().Format(time.RFC3339Nano), "Os": own.OS, "Architecture": own.Architecture,
		"Size": cmp.Or(own.Size, 1<<20), "Config": own.Config,
		"RootFS": map[string]any{"Type": "layers", "Layers": []string{}},
	}
	if own.Variant != "" {
		document["Variant"] = own.Variant
	}
	if !less(version, "1.53") && len(i.Builds)+len(i.Pulls) > 0 {
		document["Identity"] = map[string]any{"Build": named("Ref", i.Builds), "Pull": named("Repository", i.Pulls)}
	}
	return document
}

// named returns objects that have one field.
func named(field string, values []string) []map[string]string {
	list := []map[string]string{}
	for _, v := range values {
		list = append(list, map[string]string{field: v})
	}
	return list
}

// status is the state of a container in words, as the list has it.
func (c *Container) status(now time.Time) string {
	switch c.State {
	case Running:
		if h := c.health(now); h != nil && h.Status == container.Starting {
			return "Up 1 second (health: starting)"
		} else if h != nil {
			return "Up 1 second (" + h.Status + ")"
		}
		return "Up 1 second"
	case Paused:
		return "Up 1 second (Paused)"
	case Created:
		return "Created"
	}
	return "Exited (0) 1 second ago"
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
