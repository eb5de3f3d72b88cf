package label

import (
	"slices"

	"github.com/dogwatch/dogwatch/sdk"
)

// Set is the labels of a container by who set them.
type Set struct {
	// Operator are those of the user who created the container, Image those that its image
	// brings. No name is in both.
	Operator, Image map[string]string
	// Unattributed is whether it is not known yet which are which: all count as the image's.
	Unattributed bool
}

// Unattributed is what sdk.Container.ImageLabels has alone while it is not known which labels
// the image brings: in a store of a Dogwatch that did not look yet, until the watcher lists
// the container again.
const Unattributed = "*"

// Of returns the labels of a container.
func Of(c sdk.Container) Set {
	if len(c.ImageLabels) == 0 {
		return Set{Operator: c.Labels}
	}
	if _, named := c.Labels[Unattributed]; !named && slices.Equal(c.ImageLabels, []string{Unattributed}) {
		return Set{Image: c.Labels, Unattributed: true}
	}
	s := Set{Operator: make(map[string]string, len(c.Labels)), Image: make(map[string]string, len(c.ImageLabels))}
	for _, name := range c.ImageLabels {
		if value, has := c.Labels[name]; has {
			s.Image[name] = value
		}
	}
	for name, value := range c.Labels {
		if _, is := s.Image[name]; !is {
			s.Operator[name] = value
		}
	}
	return s
}

// Options are which labels count.
type Options struct {
	// Foreign is whether those of other tools do.
	Foreign bool
	// Image is what those of images may say: ImageDescriptive, also if "", ImageAll or ImageNone.
	Image string
}

// What the labels of images may say.
const (
	ImageDescriptive = "descriptive" // what the table of labels allows
	ImageAll         = "all"         // as much as those of the operator
	ImageNone        = "none"
)
