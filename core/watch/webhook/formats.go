package webhook

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// format reads the pushes of one sender. read returns false for what is of another.
type format struct {
	name, title string
	read        func(http.Header, []byte) (Push, bool, error)
}

// formats are tried in this order: what says its sender in a header comes first.
var formats = []format{
	{"ghcr", "GitHub packages", readGitHub},
	{"gitea", "Gitea or Forgejo", readGitea},
	{"gitlab", "GitLab", readGitLab},
	{"eventgrid", "Azure Event Grid", readEventGrid},
	{"distribution", "a distribution registry", readDistribution},
	{"harbor", "Harbor", readHarbor},
	{"acr", "Azure Container Registry", readACR},
	{"dockerhub", "Docker Hub", readDockerHub},
	{"quay", "Quay", readQuay},
	{"plain", "a plain sender", readPlain},
}

// Formats are the names of the formats, as Push has them.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// object decodes a body that is an object; another body is none.
func object(body []byte, target any) (bool, error) {
	if len(body) == 0 || body[0] != '{' {
		return false, nil
	}
	return true, json.Unmarshal(body, target)
}

// readGitHub reads the events "package" and "registry_package"
// (https://docs.github.com/en/webhooks/webhook-events-and-payloads#package).
func readGitHub(h http.Header, body []byte) (d Push, matches bool, err error) {
	kind := h.Get("X-GitHub-Event")
	if kind == "" || h.Get("X-Gitea-Event") != "" || h.Get("X-Forgejo-Event") != "" { // which send GitHub's header, too
		return d, false, nil
	}
	type pushed struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		Ecosystem string `json:"ecosystem"`
		Type      string `json:"package_type"`
		Owner     struct {
			Login string `json:"login"`
		} `json:"owner"`
	}
	var e struct {
		Package  pushed `json:"package"`
		Registry pushed `json:"registry_package"`
	}
	if _, err := object(body, &e); err != nil {
		return d, true, err
	}
	p := e.Package
	if kind == "registry_package" {
		p = e.Registry
	}
	switch {
	case kind == "ping":
		d.Ignored = "a ping"
	case kind != "package" && kind != "registry_package":
		d.Ignored = "an event that is none of a package: choose the event Packages (or Registry packages) only"
	case !strings.EqualFold(p.Type, "container") && !strings.EqualFold(p.Type, "docker"):
		d.Ignored = "a package that is no container image"
	default:
		owner := cmp.Or(p.Namespace, p.Owner.Login)
		owner, _, _ = strings.Cut(owner, "/") // the namespace of a package may have its name
		d.Images = []Image{{Host: "ghcr.io", Name: strings.ToLower(owner + "/" + p.Name)}}
	}
	return d, true, nil
}

// readGitea reads the package event of Gitea and Forgejo
// (https://docs.gitea.com/usage/webhooks, https://forgejo.org/docs/latest/user/webhooks/).
func readGitea(h http.Header, body []byte) (d Push, matches bool, err error) {
	kind := cmp.Or(h.Get("X-Gitea-Event"), h.Get("X-Forgejo-Event"))
	if kind == "" {
		return d, false, nil
	}
	var e struct {
		Action  string `json:"action"`
		Package struct {
			Type  string `json:"type"`
			Name  string `json:"name"`
			URL   string `json:"html_url"`
			Owner struct {
				Login string `json:"login"`
			} `json:"owner"`
		} `json:"package"`
	}
	if _, err := object(body, &e); err != nil {
		return d, true, err
	}
	address, _ := url.Parse(e.Package.URL)
	switch {
	case kind != "package":
		d.Ignored = "an event that is none of a package: choose the event Package only"
	case e.Action != "created":
		d.Ignored = "a package that was not created"
	case e.Package.Type != "container":
		d.Ignored = "a package that is no container image"
	default:
		image := Image{Name: strings.ToLower(e.Package.Owner.Login + "/" + e.Package.Name)}
		if address != nil {
			image.Host = address.Host
		}
		d.Images = []Image{image}
	}
	return d, true, nil
}

// readGitLab reads pipeline events: GitLab has none of its registry, whose images are
// pushed by pipelines (https://docs.gitlab.com/user/project/integrations/webhook_events/#pipeline-events).
// The registry of GitLab's own installations sends what a distribution registry does.
func readGitLab(h http.Header, body []byte) (d Push, matches bool, err error) {
	kind := h.Get("X-Gitlab-Event")
	if kind == "" {
		return d, false, nil
	}
	var e struct {
		Kind       string `json:"object_kind"`
		Attributes struct {
			Status string `json:"status"`
		} `json:"object_attributes"`
		Project struct {
			Path string `json:"path_with_namespace"`
			URL  string `json:"web_url"`
		} `json:"project"`
	}
	if _, err := object(body, &e); err != nil {
		return d, true, err
	}
	switch {
	case e.Kind != "pipeline":
		d.Ignored = "an event that is none of a pipeline: choose the trigger Pipeline events only"
	case e.Attributes.Status != "success":
		d.Ignored = "a pipeline that has not succeeded"
	default:
		image := Image{Name: strings.ToLower(e.Project.Path), Project: true}
		if address, _ := url.Parse(e.Project.URL); address != nil && address.Host == "gitlab.com" {
			image.Host = "registry.gitlab.com" // another installation does not say where its registry is
		}
		d.Images = []Image{image}
	}
	return d, true, nil
}

// registryEvent is an event of a distribution registry, also within those of Azure
// (https://distribution.github.io/distribution/about/notifications/,
// https://learn.microsoft.com/azure/container-registry/container-registry-webhook-reference).
type registryEvent struct {
	ID     string `json:"id"`
	Action string `json:"action"`
	Target *struct {
		MediaType  string `json:"mediaType"`
		Repository string `json:"repository"`
		Tag        string `json:"tag"`
	} `json:"target"`
	Request struct {
		Host string `json:"host"`
	} `json:"request"`
}

// image returns what was pushed; blobs of images are not meant.
func (e registryEvent) image() (Image, bool) {
	if e.Action != "push" || e.Target == nil || e.Target.Repository == "" {
		return Image{}, false
	}
	kind := e.Target.MediaType
	if e.Target.Tag == "" && !strings.Contains(kind, "manifest") && !strings.Contains(kind, "index") {
		return Image{}, false
	}
	return Image{Host: e.Request.Host, Name: e.Target.Repository}, true
}

func readDistribution(_ http.Header, body []byte) (d Push, matches bool, err error) {
	var e struct {
		Events []registryEvent `json:"events"`
	}
	if matches, err := object(body, &e); !matches || err != nil || e.Events == nil {
		return d, false, nil
	}
	var ids []string
	for _, one := range e.Events {
		if image, pushed := one.image(); pushed {
			d.Images = append(d.Images, image)
			ids = append(ids, one.ID)
		}
	}
	if d.ID = strings.Join(ids, ","); len(d.Images) == 0 {
		d.Ignored = "events that are no push of an image"
	}
	return d, true, nil
}

func readACR(_ http.Header, body []byte) (d Push, matches bool, err error) {
	var e registryEvent
	if matches, err := object(body, &e); !matches || err != nil || e.Action == "" || e.Target == nil && e.Action != "ping" {
		return d, false, nil
	}
	d.ID = e.ID
	if image, pushed := e.image(); pushed {
		d.Images = []Image{image}
		return d, true, nil
	}
	d.Ignored = "an action that is no push of an image"
	return d, true, nil
}

// readEventGrid reads events in the schema of Event Grid and in that of CloudEvents
// (https://learn.microsoft.com/azure/event-grid/event-schema-container-registry,
// https://learn.microsoft.com/azure/event-grid/end-point-validation-event-grid-events-schema).
func readEventGrid(_ http.Header, body []byte) (d Push, matches bool, err error) {
	type event struct {
		ID        string          `json:"id"`
		EventType string          `json:"eventType"`
		Type      string          `json:"type"` // of CloudEvents
		Data      json.RawMessage `json:"data"`
	}
	var events []event
	if len(body) > 0 && body[0] == '[' {
		if json.Unmarshal(body, &events) != nil {
			return d, false, nil
		}
	} else {
		var one event
		if matches, err := object(body, &one); !matches || err != nil {
			return d, false, nil
		}
		events = []event{one}
	}
	const registry, validation = "Microsoft.ContainerRegistry.", "Microsoft.EventGrid.SubscriptionValidationEvent"
	var ids []string
	for _, e := range events {
		switch name := e.EventType + e.Type; {
		case name == validation:
			var data struct {
				Code string `json:"validationCode"`
			}
			if err := json.Unmarshal(e.Data, &data); err != nil {
				return d, true, err
			}
			return Push{Validation: data.Code, Ignored: "a validation of the address"}, true, nil
		case strings.HasPrefix(name, registry):
			matches = true
			var data registryEvent
			if err := json.Unmarshal(e.Data, &data); err != nil {
				return d, true, err
			}
			if image, pushed := data.image(); pushed && name == registry+"ImagePushed" {
				d.Images, ids = append(d.Images, image), append(ids, e.ID)
			}
		}
	}
	if d.ID = strings.Join(ids, ","); len(d.Images) == 0 {
		d.Ignored = "events that are no push of an image"
	}
	return d, matches, nil
}

// readHarbor reads both formats of Harbor's payloads
// (https://goharbor.io/docs/main/working-with-projects/project-configuration/configure-webhooks/).
func readHarbor(_ http.Header, body []byte) (d Push, matches bool, err error) {
	type data struct {
		Resources []struct {
			URL string `json:"resource_url"`
		} `json:"resources"`
	}
	var e struct {
		Type  string `json:"type"`
		Event *data  `json:"event_data"`
		ID    string `json:"id"` // of CloudEvents
		Cloud *data  `json:"data"`
	}
	if matches, err := object(body, &e); !matches || err != nil {
		return d, false, nil
	}
	pushed := e.Event
	if e.Cloud != nil && strings.HasPrefix(e.Type, "harbor.") {
		pushed = e.Cloud
	}
	if pushed == nil {
		return d, false, nil
	}
	d.ID = e.ID
	if e.Type != "PUSH_ARTIFACT" && e.Type != "harbor.artifact.pushed" {
		d.Ignored = "an event that is no push: choose Artifact pushed only"
		return d, true, nil
	}
	for _, r := range pushed.Resources {
		image, err := named(r.URL)
		if err != nil {
			return d, true, err
		}
		d.Images = append(d.Images, image)
	}
	return d, true, nil
}

// readDockerHub reads https://docs.docker.com/docker-hub/repos/manage/webhooks/.
func readDockerHub(_ http.Header, body []byte) (d Push, matches bool, err error) {
	var e struct {
		Pushed     *struct{} `json:"push_data"`
		Repository struct {
			Name string `json:"repo_name"`
		} `json:"repository"`
	}
	if matches, err := object(body, &e); !matches || err != nil || e.Pushed == nil {
		return d, false, nil
	}
	image, err := named(e.Repository.Name)
	d.Images = []Image{image}
	return d, true, err
}

// readQuay reads https://docs.quay.io/guides/notifications.html, "Repository Push".
func readQuay(_ http.Header, body []byte) (d Push, matches bool, err error) {
	var e struct {
		URL  string          `json:"docker_url"`
		Tags json.RawMessage `json:"updated_tags"`
	}
	if matches, err := object(body, &e); !matches || err != nil || e.URL == "" {
		return d, false, nil
	}
	if e.Tags == nil {
		d.Ignored = "a notification that is no push: choose Push to Repository only"
		return d, true, nil
	}
	image, err := named(e.URL)
	d.Images = []Image{image}
	return d, true, err
}

// readPlain reads {"image": "…"} and {"images": ["…"]}, for scripts and other senders.
func readPlain(_ http.Header, body []byte) (d Push, matches bool, err error) {
	var e struct {
		Image  string   `json:"image"`
		Images []string `json:"images"`
	}
	if matches, err := object(body, &e); !matches || err != nil {
		return d, false, nil
	}
	if e.Image != "" {
		e.Images = append(e.Images, e.Image)
	}
	for _, text := range e.Images {
		image, err := named(text)
		if err != nil {
			return d, true, err
		}
		d.Images = append(d.Images, image)
	}
	return d, len(d.Images) > 0, nil
}
