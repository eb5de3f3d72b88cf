package main

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// change is an update of an image, whatever containers run it.
type change struct {
	image      string // with its host: docker.io/library/nginx
	from, to   string // tags, or digests
	digest     string // of what the tag to stands for; may be unknown
	link       string
	containers []string
	files      []string // where it is to be changed
}

// Labels of containers, and annotations of workloads, that say where their image is written: a path in a repository,
// and its address or name.
const (
	fileLabel       = "dogwatch.source.file"
	repositoryLabel = "dogwatch.source.repository"
)

// labelOf is a label that the user has set. What an image says of itself names no file.
func labelOf(c sdk.Container, name string) string {
	if slices.Contains(c.ImageLabels, name) || slices.Contains(c.ImageLabels, "*") {
		return ""
	}
	return strings.TrimSpace(c.Labels[name])
}

// nameOf is the name of a repository, of which an address may be given: https://…/ana/homelab.git, or git@…:ana/homelab.
func nameOf(repository string) string {
	if _, below, is := strings.Cut(repository, "://"); is {
		_, repository, _ = strings.Cut(below, "/")
	} else if _, below, is := strings.Cut(repository, ":"); is {
		repository = below
	}
	return strings.TrimSuffix(strings.Trim(repository, "/"), ".git")
}

// versionForm is that of tags and digests, of which none is more than one word in any file.
var versionForm = regexp.MustCompile(`^\w[\w.:-]*$`)

// changesOf are the updates of containers, each image once. Those of another repository are left out.
func (o options) changesOf(containers []sdk.Container) []change {
	var all []change
	for _, c := range containers {
		repository := nameOf(labelOf(c, repositoryLabel))
		if c.Result == nil || c.UpdateKind.LocalValue == "" || !versionForm.MatchString(c.UpdateKind.RemoteValue) ||
			repository != "" && !strings.EqualFold(repository, o.Repository) {
			continue
		}
		one := change{
			image: c.Image.Registry.Host + "/" + c.Image.Name, from: c.UpdateKind.LocalValue, to: c.UpdateKind.RemoteValue,
			digest: c.Result.Digest, link: c.Result.Link,
		}
		i := slices.IndexFunc(all, func(o change) bool {
			return o.image == one.image && o.from == one.from && o.to == one.to
		})
		if i < 0 {
			i, all = len(all), append(all, one)
		}
		all[i].containers = append(all[i].containers, c.Watcher+"/"+c.Name)
		files := o.Files
		if file := labelOf(c, fileLabel); file != "" {
			files = []string{strings.TrimPrefix(file, "./")}
		}
		for _, file := range files {
			if !slices.Contains(all[i].files, file) && isPath(file) {
				all[i].files = append(all[i].files, file)
			}
		}
	}
	return all
}

// lineForm is a line that names an image, of a compose file, a manifest of Kubernetes, a job of Nomad or a quadlet.
var lineForm = regexp.MustCompile(`(?m)^(\s*(?:- +|config *\{ *)?(?:image *[:=] *(?:&\S+ +)?|Image *= *)["']?)([^\s"'#]+)`)

// edit changes the image in a text. current is true when there is nothing to change, since it has the new one.
func (c change) edit(text string) (edited string, current bool) {
	edited = lineForm.ReplaceAllStringFunc(text, func(line string) string {
		parts := lineForm.FindStringSubmatch(line)
		wanted, done := c.replace(parts[2])
		current = current || done
		return parts[1] + wanted
	})
	edited, done := c.editNodes(edited)
	return edited, (current || done) && edited == text
}

// replace returns what is to be written in place of an image. current is true when that is the new one.
func (c change) replace(written string) (wanted string, current bool) {
	image, err := watcher.ParseImage(written)
	name := strings.TrimPrefix(image.Host+"/"+image.Name, "/")
	switch {
	case err != nil || bare(name) != bare(c.image): // written with a variable, or another image
	case image.Tag == c.to || image.Digest == c.to:
		return written, true
	case image.Digest == c.from:
		return strings.TrimSuffix(written, c.from) + c.to, false
	case image.Tag == c.from && !image.Pinned:
		return name + ":" + c.to, false
	case image.Tag == c.from && c.digest != "":
		return name + ":" + c.to + "@" + c.digest, false
	}
	return written, false
}

// bare writes the name of an image as users know it: nginx for docker.io/library/nginx.
func bare(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "docker.io/"), "library/")
}

func (c change) title() string {
	return plain(fmt.Sprintf("Update %s from %s to %s", bare(c.image), c.from, c.to))
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

func (c change) proposal() proposal { return proposal{c.title(), c.body()} }

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
