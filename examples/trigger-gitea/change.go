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
		i := slices.IndexFunc(all, func(o change) bool {
			return o.image == one.image && o.from == one.from && o.to == one.to
		})
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
		image, err := watcher.ParseImage(parts[2])
		name := strings.TrimPrefix(image.Host+"/"+image.Name, "/")
		switch {
		case err != nil || bare(name) != bare(c.image): // written with a variable, or another image
		case image.Tag == c.to || image.Digest == c.to:
			current = true
		case image.Digest == c.from:
			return strings.TrimSuffix(line, c.from) + c.to
		case image.Tag == c.from && !image.Pinned:
			return parts[1] + name + ":" + c.to
		case image.Tag == c.from && c.digest != "":
			return parts[1] + name + ":" + c.to + "@" + c.digest
		}
		return line
	})
	return edited, current
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
