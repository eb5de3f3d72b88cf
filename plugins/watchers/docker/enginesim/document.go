package enginesim

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
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
	Ports      []struct{}
	Labels     map[string]string
	State      string
	Status     string
	HostConfig map[string]string
	Mounts     []struct{}
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
		case !everything && c.State != Running && c.State != Paused,
			!wanted.accept("id", c.ID), !wanted.accept("name", c.Name), !wanted.accept("status", c.State), !wanted.acceptLabels(c.Labels):
			continue
		}
		s := containerSummary{
			ID: c.ID, Image: c.Image, ImageID: c.imageID, Command: "/main", Created: c.born.Unix(),
			Ports: []struct{}{}, Labels: orEmpty(c.Labels), State: c.State, Status: status(c.State),
			HostConfig: map[string]string{"NetworkMode": "none"}, Mounts: []struct{}{},
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

func (c *Container) inspect() any {
	return map[string]any{
		"Id": c.ID, "Name": "/" + c.Name, "Image": c.imageID, "Created": c.born.UTC().Format(time.RFC3339Nano),
		"Path": "/main", "Args": []string{},
		"State": map[string]any{
			"Status": c.State, "Running": c.State == Running || c.State == Paused, "Paused": c.State == Paused,
		},
		"Config": map[string]any{"Image": c.Image, "Labels": orEmpty(c.Labels), "Cmd": []string{"/main"}},
	}
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
			"Size": 1 << 20, "SharedSize": -1, "Containers": -1, "Labels": orEmpty(i.Labels),
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
	document := map[string]any{
		"Id": i.ID, "RepoTags": orNone(i.Tags), "RepoDigests": orNone(i.Digests),
		"Created": own.Created.UTC().Format(time.RFC3339Nano), "Os": own.OS, "Architecture": own.Architecture,
		"Size": 1 << 20, "Config": map[string]any{"Labels": own.Labels},
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

func status(state string) string {
	switch state {
	case Running:
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
