package replace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The labels of compose that are read here.
const (
	composeProject   = "com.docker.compose.project"
	composeService   = "com.docker.compose.service"
	composeVersion   = "com.docker.compose.version"
	composeDependsOn = "com.docker.compose.depends_on"
	composeHash      = "com.docker.compose.config-hash"
	composeNumber    = "com.docker.compose.container-number"
	// composeImage has the id of a container's image; compose recreates a container that has another one.
	composeImage = "com.docker.compose.image"
)

// Counting returns those labels of a container that say something about it: the ones that
// whoever created it gave to it. Engines merge the labels of its image with them, and
// those count for nothing, whatever they say; image reports whether a label is one.
//
// Compose writes a project, a service and its version into the images that it builds, too
// (https://docs.docker.com/reference/compose-file/build/#labels), so that a container's
// may be the same. They count where compose created the container, which is seen by its
// own hash or number: no image has those of a container.
func Counting(labels map[string]string, image func(name, value string) bool) map[string]string {
	own := make(map[string]string, len(labels))
	for name, value := range labels {
		if !image(name, value) {
			own[name] = value
		}
	}
	if own[composeHash] != "" || own[composeNumber] != "" {
		for _, name := range []string{composeProject, composeService, composeVersion} {
			if value, found := labels[name]; found {
				own[name] = value
			}
		}
	}
	return own
}

// Neighbours reports whether a container with these labels may belong to the compose project
// of another, by what it or its image says: whether it does is seen by the labels that count.
func Neighbours(c Container, labels map[string]string) bool {
	project := c.Labels[composeProject]
	return project != "" && labels[composeProject] == project
}

// brings reports whether a label of a container is that of its image, as far as is known:
// it may be when the image is gone.
func (i *Image) brings(name, value string) bool {
	if i == nil {
		return true
	}
	if i.Config == nil {
		return false
	}
	own, found := i.Config.Labels[name]
	return found && own == value
}

// WithImage returns a container with its image, and with the labels that count then.
func (c Container) WithImage(image *Image) Container {
	c.Image = image
	c.Labels = Counting(c.Config.Labels, image.brings)
	return c
}

// says reports whether a container has a label whose name begins with prefix, and which its
// image is not known to bring. It is for what only keeps Dogwatch from doing something.
func (c Container) says(prefix string) bool {
	return slices.ContainsFunc(sortedKeys(c.Config.Labels), func(name string) bool {
		return strings.HasPrefix(name, prefix) && (c.Image == nil || !c.Image.brings(name, c.Config.Labels[name]))
	})
}

// labelPrefixes begin the names of labels that tell Dogwatch, or a tool whose labels it
// reads, what to do.
func labelPrefixes() []string {
	return []string{"dogwatch.", "wud.", "dd.", "diun.", "com.centurylinklabs.watchtower."}
}

// labelWarnings say which labels a user may have set that an update has count for nothing:
// those that the new image has too, and those that go with the old image.
func labelWarnings(c Container, after map[string]string) []watcher.Reason {
	var same, gone []string
	for name, value := range c.Config.Labels {
		if !slices.ContainsFunc(labelPrefixes(), func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		_, counts := c.Labels[name]
		next, stays := after[name]
		switch {
		case counts && stays && next == value:
			same = append(same, name)
		case !counts && !stays:
			gone = append(gone, name)
		}
	}
	var all []watcher.Reason
	if len(same) > 0 {
		slices.Sort(same)
		all = append(all, watcher.Reason{Code: WarnLabels, Text: fmt.Sprintf(
			"the new image has labels that you gave %s, with the same values, and from then on they count as the image's: "+
				"%s: set another value, or say it in the configuration",
			c.Name(), strings.Join(same, ", "))})
	}
	if len(gone) > 0 {
		slices.Sort(gone)
		all = append(all, watcher.Reason{Code: WarnLabels, Text: fmt.Sprintf(
			"labels of %s go with its old image: %s: "+
				"if you set them too, recreate the container afterwards, or say it in the configuration",
			c.Name(), strings.Join(gone, ", "))})
	}
	return all
}
