package main

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/dogwatch/dogwatch/sdk"
)

// change is an update of an image, whatever containers run it.
type change struct {
	image      string // with its host: docker.io/library/nginx
	from, to   string // tags, or digests
	digest     string // of what the tag to stands for; may be unknown
	link       string
	containers []string
}

// changesOf are the updates of containers, each image once.
func changesOf(containers []sdk.Container) []change {
	var all []change
	for _, c := range containers {
		if c.Result == nil || c.UpdateKind.LocalValue == "" || c.UpdateKind.RemoteValue == "" {
			continue
		}
		one := change{
			image: c.Image.Registry.Host + "/" + c.Image.Name, from: c.UpdateKind.LocalValue, to: c.UpdateKind.RemoteValue,
			digest: c.Result.Digest, link: c.Result.Link,
		}
		i := slices.IndexFunc(all, func(o change) bool { return o.image == one.image && o.from == one.from && o.to == one.to })
		if i < 0 {
			i, all = len(all), append(all, one)
		}
		all[i].containers = append(all[i].containers, c.Watcher+"/"+c.Name)
	}
	return all
}

// lineForm is a line that names an image, of a compose file, a manifest of Kubernetes or a quadlet.
var lineForm = regexp.MustCompile(`(?m)^(\s*(?:- +)?(?:image *: *(?:&\S+ +)?|Image *= *)["']?)([^\s"'#]+)`)

// edit changes the image in a text. current is true when a line has the new one already.
func (c change) edit(text string) (edited string, current bool) {
	edited = lineForm.ReplaceAllStringFunc(text, func(line string) string {
		parts := lineForm.FindStringSubmatch(line)
		name, digest, _ := strings.Cut(parts[2], "@")
		tag := "latest"
		if colon := strings.LastIndex(name, ":"); colon > strings.LastIndex(name, "/") {
			name, tag = name[:colon], name[colon+1:]
		}
		switch {
		case full(name) != c.image:
		case tag == c.to || digest == c.to:
			current = true
		case digest != "" && digest == c.from:
			return strings.TrimSuffix(line, digest) + c.to
		case tag == c.from && digest == "":
			return parts[1] + name + ":" + c.to
		case tag == c.from && c.digest != "":
			return parts[1] + name + ":" + c.to + "@" + c.digest
		}
		return line
	})
	return edited, current
}

// full writes the name of an image with its host.
func full(name string) string {
	host, _, found := strings.Cut(name, "/")
	switch {
	case !found:
		return "docker.io/library/" + name
	case strings.ContainsAny(host, ".:") || host == "localhost":
		return name
	}
	return "docker.io/" + name
}

func (c change) title() string {
	image := strings.TrimPrefix(strings.TrimPrefix(c.image, "docker.io/"), "library/")
	return plain(fmt.Sprintf("Update %s from %s to %s", image, c.from, c.to))
}

func (c change) body() string {
	text := "Dogwatch found `" + plain(c.to) + "` for:\n\n"
	for _, name := range c.containers {
		text += "- `" + plain(name) + "`\n"
	}
	if strings.HasPrefix(c.link, "http") && !strings.ContainsAny(c.link, "<> \n") {
		text += "\nRelease notes: <" + c.link + ">\n"
	}
	return text
}

// plain leaves out what would end a line or a piece of code in Markdown.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '`' || unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9-]+`)

// branch is the same for the same update, whenever it is proposed.
func (c change) branch() string {
	sum := sha256.Sum256([]byte(c.image + " " + c.from + " " + c.to))
	name := unfit.ReplaceAllString(c.image[strings.LastIndex(c.image, "/")+1:]+"-"+c.to, "-")
	return fmt.Sprintf("dogwatch-%s-%x", name[:min(len(name), 60)], sum[:4])
}
