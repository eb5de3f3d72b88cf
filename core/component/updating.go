package component

import (
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// optionUpdate is the option of watchers that lets them replace containers, see watcher.Updater.
const optionUpdate = "update"

// composeType is the trigger type that always runs once per check, as in What's Up Docker.
const composeType = "dockercompose"

// updatingTypes are the trigger types of What's Up Docker that update containers. To
// configure one permits that, as it does there; other triggers permit nothing.
func updatingTypes() []string { return []string{"docker", composeType} }

// updatingTrigger returns the id of a trigger that permits updates, the same one whatever
// the order of the sections; "" for none.
func updatingTrigger(sections []config.Component) (id string) {
	for _, c := range sections {
		if other := c.Type + "." + c.Name; c.Kind == kind.Trigger && slices.Contains(updatingTypes(), c.Type) && (id == "" || other < id) {
			id = other
		}
	}
	return id
}

// permit lets a watcher update whose section does not say whether it may, when a trigger permits that.
func (w *Watcher) permit(section config.Component, schema option.Schema, trigger string) {
	_, w.decided = section.Options[optionUpdate]
	if w.permittedBy = w.permission(section, schema, trigger); w.permittedBy != "" {
		w.Options[optionUpdate] = true
	}
}

// permission returns the trigger that lets a watcher of a section update; "" for none.
func (*Watcher) permission(section config.Component, schema option.Schema, trigger string) string {
	_, has := schema.Find(optionUpdate)
	if _, decided := section.Options[optionUpdate]; !has || decided {
		return ""
	}
	return trigger
}

// Updates reports whether the watcher may replace containers, and why; why is "" when
// its type cannot. Pages, the API and doctor say so in these words.
func (w *Watcher) Updates() (may bool, why string) {
	may, has := w.Options[optionUpdate].(bool)
	switch {
	case w.permittedBy != "":
		return true, fmt.Sprintf("the trigger %s is configured", w.permittedBy)
	case w.decided:
		return may, fmt.Sprintf("its option %s is %t", optionUpdate, may)
	case has || w.Can(kind.CapUpdate):
		return may, fmt.Sprintf("neither its option %s nor a trigger of type docker or dockercompose is set", optionUpdate)
	}
	return false, ""
}

// UpdateRemedy says what lets the watcher replace containers; "" when it may, or its type
// cannot. An option that forbids it counts more than any trigger.
func (w *Watcher) UpdateRemedy() string {
	switch may, why := w.Updates(); {
	case may || why == "":
		return ""
	case w.decided:
		return fmt.Sprintf("set %s.%s to true", w.FullID(), optionUpdate)
	}
	return fmt.Sprintf("set %s.%s to true, or configure a docker or dockercompose trigger", w.FullID(), optionUpdate)
}
