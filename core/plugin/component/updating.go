package component

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

const (
	// optionUpdate is the option of watchers that lets them replace containers, see watcher.Updater.
	optionUpdate = "update"
	// optionCompose is the one that says how compose files follow, and onRequest the value of
	// it that leaves this to each request.
	optionCompose = "compose"
	onRequest     = "request"
)

// composeType is the trigger type that always runs once per check, as in What's Up Docker.
const composeType = "dockercompose"

// updatingTypes are the trigger types of What's Up Docker that update containers. To
// configure one permits that, as it does there; other triggers permit nothing.
func updatingTypes() []string { return []string{"docker", composeType} }

// Updating reports whether the trigger with an id is of one of these types. What it asks of an
// update are its options, which are the operator's word.
func Updating(trigger string) bool {
	name, _, _ := strings.Cut(trigger, ".")
	return slices.Contains(updatingTypes(), name)
}

// permits are the ids of triggers that let watchers update, and that let compose files be
// changed where a request asks for it; "" for none.
type permits struct{ update, compose string }

// permitsOf returns what the triggers of some sections permit, the same whatever their order.
func permitsOf(sections []config.Component) (p permits) {
	first := func(id *string, other string) {
		if *id == "" || other < *id {
			*id = other
		}
	}
	for _, c := range sections {
		if c.Kind != kind.Trigger || !slices.Contains(updatingTypes(), c.Type) {
			continue
		}
		first(&p.update, c.Type+"."+c.Name)
		if c.Type == composeType {
			first(&p.compose, c.Type+"."+c.Name)
		}
	}
	return p
}

// MayUpdate reports whether a configuration lets a watcher replace containers, for where no watcher runs. An option
// that forbids it counts more than any trigger.
func MayUpdate(sections []config.Component, watcher string) bool {
	for _, c := range sections {
		if given, decided := c.Options[optionUpdate]; decided && c.Kind == kind.Watcher && c.Name == watcher {
			return given.V == true || given.V == "true"
		}
	}
	return permitsOf(sections).update != ""
}

// permit lets a watcher do what its section does not say, when a trigger permits that.
func (w *Watcher) permit(section config.Component, schema option.Schema, by permits) {
	_, w.decided = section.Options[optionUpdate]
	w.permittedBy = by.to(section, schema)
	if w.permittedBy.update != "" {
		w.Options[optionUpdate] = true
	}
	if w.permittedBy.compose != "" {
		w.Options[optionCompose] = onRequest
	}
}

// to returns what a watcher of a section is permitted: nothing about which the section
// decides, or which its type does not have.
func (p permits) to(section config.Component, schema option.Schema) permits {
	open := func(name string) (option.Option, bool) {
		o, has := schema.Find(name)
		_, decided := section.Options[name]
		return o, has && !decided
	}
	if _, ok := open(optionUpdate); !ok {
		p.update = ""
	}
	if o, ok := open(optionCompose); !ok || !slices.Contains(o.Choices, onRequest) {
		p.compose = ""
	}
	return p
}

// Updates reports whether the watcher may replace containers, and why; why is "" when
// its type cannot. Pages, the API and doctor say so in these words.
func (w *Watcher) Updates() (may bool, why string) {
	may, has := w.Options[optionUpdate].(bool)
	switch {
	case w.ungranted():
		return false, fmt.Sprintf("its plugin does not get the capability %q", kind.CapUpdate)
	case w.forbidden() != "":
		return false, "the owner of " + w.Name + " allows no updates"
	case w.permittedBy.update != "":
		return true, fmt.Sprintf("the trigger %s is configured", w.permittedBy.update)
	case w.decided:
		return may, fmt.Sprintf("its option %s is %t", optionUpdate, may)
	case has || w.Can(kind.CapUpdate):
		return may, fmt.Sprintf("neither its option %s nor a trigger of type docker or dockercompose is set", optionUpdate)
	}
	return false, ""
}

// CanUpdate reports whether its type can replace containers, be it allowed to or not.
func (w *Watcher) CanUpdate() bool { return w.Can(kind.CapUpdate) || w.ungranted() }

// ungranted reports whether the watcher could update if its plugin were granted that.
func (w *Watcher) ungranted() bool { return slices.Contains(w.missing, kind.CapUpdate) }

// forbidden says why the owner of the host of an agent allows no updates, and what to do there; "" when they do.
func (w *Watcher) forbidden() string {
	limits, _ := w.ownerLimits()
	return limits.ReadOnly
}

// UpdateRemedy says what lets the watcher replace containers; "" when it may, or its type
// cannot. An option that forbids it counts more than any trigger.
func (w *Watcher) UpdateRemedy() string {
	switch may, why := w.Updates(); {
	case may || why == "":
		return ""
	case w.ungranted():
		return toGrant(w.bundle.Status().Name, kind.CapUpdate)
	case w.forbidden() != "":
		return w.forbidden()
	case w.decided:
		return fmt.Sprintf("set %s.%s to true", w.FullID(), optionUpdate)
	}
	return fmt.Sprintf("set %s.%s to true, or configure a docker or dockercompose trigger", w.FullID(), optionUpdate)
}

// UpdatePaste is UpdateRemedy as lines to paste; nothing where no lines are enough.
func (w *Watcher) UpdatePaste() config.Paste {
	may, has := w.Options[optionUpdate].(bool)
	if may || !has || w.ungranted() || w.forbidden() != "" {
		return config.Paste{}
	}
	return config.Paste{Lines: w.section.Giving(optionUpdate, "true"), Docs: config.Docs("updating.md#allow-it")}
}
