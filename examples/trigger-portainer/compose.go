package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// change is an update of a service.
type change struct {
	service  string
	image    string // with its host: docker.io/library/nginx
	tag      string // that runs
	from, to string // tags, or digests
	byDigest bool
	digest   string // of what the tag to stands for; may be unknown
}

// changeOf is the update of a container that Compose or a swarm started.
func changeOf(c sdk.Container) (change, error) {
	service := c.Labels["com.docker.compose.service"]
	if service == "" {
		service = strings.TrimPrefix(c.Labels["com.docker.swarm.service.name"], c.Stack+"_")
	}
	switch {
	case service == "":
		return change{}, fmt.Errorf("container %s: its labels do not say which service of stack %s it is", c.Name, c.Stack)
	case c.Base != nil || c.Image.Built:
		return change{}, fmt.Errorf("container %s: its image is built: build it anew", c.Name)
	case c.Result == nil || c.UpdateKind.LocalValue == "" || c.UpdateKind.RemoteValue == "":
		return change{}, fmt.Errorf("container %s: there is no update of it", c.Name)
	}
	return change{
		service: service, image: c.Image.Registry.Host + "/" + c.Image.Name, tag: c.Image.Tag.Value,
		from: c.UpdateKind.LocalValue, to: c.UpdateKind.RemoteValue,
		byDigest: c.UpdateKind.Kind == sdk.KindDigest, digest: c.Result.Digest,
	}, nil
}

// replace returns what a service is given in place of the image that is written.
func (c change) replace(written string) (string, error) {
	image, err := watcher.ParseImage(written)
	if err != nil {
		return "", sdk.WithRemedy(fmt.Errorf("the image of service %s is written as %q", c.service, written),
			"change the variable below the editor of the stack in Portainer")
	}
	name := strings.TrimPrefix(image.Host+"/"+image.Name, "/")
	if bare(name) == bare(c.image) {
		switch {
		case c.byDigest && (image.Digest == c.to || !image.Pinned && image.Tag == c.tag), !c.byDigest && image.Tag == c.to:
			return written, nil // to be pulled
		case c.byDigest && image.Digest == c.from:
			return strings.TrimSuffix(written, c.from) + c.to, nil
		case !c.byDigest && image.Tag == c.from && !image.Pinned:
			return name + ":" + c.to, nil
		case !c.byDigest && image.Tag == c.from && c.digest != "":
			return name + ":" + c.to + "@" + c.digest, nil
		}
	}
	return "", sdk.WithRemedy(fmt.Errorf("the file gives service %s the image %s, and the container runs %s:%s",
		c.service, written, bare(c.image), c.tag), "update the stack in Portainer, or correct its file")
}

// bare writes the name of an image as users know it: nginx for docker.io/library/nginx.
func bare(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "docker.io/"), "library/")
}

// edit gives services their images in a compose file, where these are written, and leaves the rest as it is.
func edit(text string, changes []change) (string, error) {
	for _, c := range changes {
		node, err := imageOf(text, c.service)
		if err != nil {
			return "", err
		}
		wanted, err := c.replace(node.Value)
		if err != nil {
			return "", err
		}
		if wanted == node.Value {
			continue
		}
		edited := replaceAt(text, node, wanted)
		if !onlyImage(text, edited, c.service, wanted) {
			return "", sdk.WithRemedy(fmt.Errorf("the image of service %s cannot be replaced where it is written", c.service),
				"write it on a line of its own, without alias: image: "+wanted)
		}
		text = edited
	}
	return text, nil
}

// imageOf returns where the image of a service is written.
func imageOf(text, service string) (*yaml.Node, error) {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil || len(node.Content) == 0 {
		return nil, errors.New("its file is no YAML")
	}
	at := node.Content[0]
	for _, key := range []string{"services", service, "image"} {
		if at = valueOf(at, key); at == nil {
			return nil, fmt.Errorf("its file gives service %s no image", service)
		}
	}
	if at.Kind != yaml.ScalarNode {
		return nil, sdk.WithRemedy(fmt.Errorf("its file gives service %s the image of another place", service),
			"write the image of the service itself, on a line of its own")
	}
	return at, nil
}

func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	if mapping.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			if mapping.Content[i].Value == key {
				return mapping.Content[i+1]
			}
		}
	}
	return nil
}

// replaceAt writes a value in place of that of a node; the text as it is if it is not to be found there.
func replaceAt(text string, node *yaml.Node, value string) string {
	lines := strings.SplitAfter(text, "\n")
	if node.Line > len(lines) {
		return text
	}
	line := []rune(lines[node.Line-1]) // a column counts characters
	at := min(node.Column-1, len(line))
	lines[node.Line-1] = string(line[:at]) + strings.Replace(string(line[at:]), node.Value, value, 1)
	return strings.Join(lines, "")
}

// onlyImage reports whether two files are the same but for the image of a service, which is the one wanted.
func onlyImage(before, after, service, wanted string) bool {
	var was, is map[string]any
	if yaml.Unmarshal([]byte(before), &was) != nil || yaml.Unmarshal([]byte(after), &is) != nil {
		return false
	}
	services, _ := was["services"].(map[string]any)
	one, _ := services[service].(map[string]any)
	if one == nil {
		return false
	}
	one["image"] = wanted
	return reflect.DeepEqual(was, is)
}
