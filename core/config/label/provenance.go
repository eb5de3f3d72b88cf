package label

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// Set is the labels of a container by their provenance: who set them.
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
		if _, ok := s.Image[name]; !ok {
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

// Ignored is a label of an image that has no effect.
type Ignored struct {
	// Name is what it says, as Rule.Name; "" for the labels of Compose and others that say to
	// which stack a container belongs.
	Name string
	// Label is its full name.
	Label string
	// Why is a sentence without a full stop.
	Why string
}

// String returns a sentence that names the label, without a full stop.
func (i Ignored) String() string { return sourceOf(i.Label, true) + ": ignored: " + i.Why }

const (
	onlyOperator = "only the operator may say this, by a label of the container itself"
	ownProbe     = "an image may have only its own container probed, as :8080/health or :5432"
	noImage      = "labels.image is none"
)

// addImage adds what the labels of an image ask for, as far as an image may. The rules of r,
// those of the operator, win.
func (r *Reading) addImage(image Reading, how string) {
	r.Unknown, r.Notes = append(r.Unknown, image.Unknown...), append(r.Notes, image.Notes...)
	own := slices.Clone(r.rules)
	for _, rule := range image.rules {
		may, why := mayImage(rule, how)
		twin := slices.IndexFunc(own, func(have Rule) bool { return meaning(have.Name) == meaning(rule.Name) })
		switch {
		case may == Never:
			r.Ignored = append(r.Ignored, Ignored{Name: rule.Name, Label: rule.Label, Why: why})
		case twin >= 0:
			r.Notes = append(r.Notes, rule.Source()+": not used, since "+own[twin].Label+" is set")
		case may == Tightens:
			r.tighter = append(r.tighter, rule)
		default:
			r.rules = append(r.rules, rule)
		}
	}
}

// meaning groups labels of which one of the operator's rules out all of the image's: a
// container is probed in one way.
func meaning(name string) string {
	if name == ProbeHTTP || name == ProbeTCP || name == ProbeCommand {
		return "probe"
	}
	return name
}

// mayImage says what a rule may bring about as one of an image, and if never, why.
func mayImage(rule Rule, how string) (Say, string) {
	switch how {
	case ImageAll:
		return Describes, ""
	case ImageNone:
		return Never, noImage
	}
	e, _ := byName(rule.Name)
	switch {
	case e.image == Never:
	case rule.Name == Update && strings.EqualFold(strings.TrimSpace(rule.Value), "auto"):
		return Never, onlyOperator
	case rule.Name == UpdateAuto && !rule.IsFalse():
		return Never, onlyOperator
	case (rule.Name == ProbeHTTP || rule.Name == ProbeTCP) && !IsOwnProbe(rule.Name, rule.Value):
		return Never, ownProbe
	}
	return e.image, onlyOperator
}
