package check

import (
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// transition names what a check changed about a container, if anything. That
// a failed check failed again, if only for another reason, is no change.
func transition(before, after sdk.Container) (event.Type, bool) {
	switch {
	case after.UpdateAvailable && !update.Equal(&before, &after):
		return event.UpdateFound, true
	case before.UpdateAvailable && !after.UpdateAvailable:
		return event.UpdateCleared, true
	case before.Check.Postponed() != after.Check.Postponed():
		return event.ContainerChanged, true
	case before.Check.State == sdk.CheckNever && after.Check.State == sdk.CheckOK && after.Error == nil:
		return "", false // container.added has been emitted
	case before.Check.State != after.Check.State:
		return event.ContainerChanged, true
	case before.UpdateKind.SemverDiff != after.UpdateKind.SemverDiff: // measured anew: the update is the same
		return event.ContainerChanged, true
	case after.Check.State == sdk.CheckOK && message(before) != message(after):
		return event.ContainerChanged, true
	}
	return "", false
}

// aspect names what alone differs between a container before and after a check,
// where there is a name for it.
func aspect(before, after sdk.Container) event.Aspect {
	if before.Check.Postponed() != after.Check.Postponed() && before.Check.State == after.Check.State &&
		message(before) == message(after) && before.UpdateAvailable == after.UpdateAvailable {
		return event.Postponed
	}
	return ""
}

func message(c sdk.Container) string {
	if c.Error == nil {
		return ""
	}
	return c.Error.Message
}
