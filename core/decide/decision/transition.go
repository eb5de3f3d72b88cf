package decision

import (
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// record adds the event of what a container became to a change, if it became anything else. An update that is known to
// users is not found again.
func record(change *event.Change, before, after *sdk.Container, knownToUsers bool) {
	t, changed := transition(*before, *after)
	if !changed {
		return
	}
	if t == event.UpdateFound && knownToUsers {
		t = event.ContainerChanged
	}
	change.Events = append(change.Events, became(t, *before, *after))
}

// transition names what a check changed about a container, if anything. That
// a failed check failed again, if only for another reason, is no change.
func transition(before, after sdk.Container) (event.Type, bool) {
	switch {
	case Offered(&after) &&
		(!update.Equal(&before, &after) || before.Decision != nil && before.Decision.OfferedAt.IsZero()):
		return event.UpdateFound, true
	case after.UpdateAvailable && !update.Equal(&before, &after): // held
		return event.ContainerChanged, true
	case before.UpdateAvailable && !after.UpdateAvailable:
		return event.UpdateCleared, true
	case before.Check.Postponed() != after.Check.Postponed():
		return event.ContainerChanged, true
	case before.Check.State == sdk.CheckNever && after.Check.Succeeded() && after.Error == nil:
		return "", false // container.added has been emitted
	case before.Check.State != after.Check.State || before.Check.Reason != after.Check.Reason:
		return event.ContainerChanged, true
	case before.UpdateKind.SemverDiff != after.UpdateKind.SemverDiff: // measured anew: the update is the same
		return event.ContainerChanged, true
	case after.Check.Succeeded() && Problem(before) != Problem(after):
		return event.ContainerChanged, true
	case !sameDecision(&before, &after) || len(newLevels(&before, &after)) > 0:
		return event.ContainerChanged, true
	}
	return "", false
}

// became returns the event of what a container became.
func became(t event.Type, before, after sdk.Container) event.Event {
	e := event.Event{
		Type: t, Subject: event.Subject(after), Payload: event.Payload{Container: &after, Levels: newLevels(&before, &after)},
	}
	if t == event.ContainerChanged {
		e.Aspect = aspect(before, after)
	}
	return e
}

// aspect names what alone differs between a container before and after a check,
// where there is a name for it.
func aspect(before, after sdk.Container) event.Aspect {
	postponed := before.Check.Postponed() != after.Check.Postponed()
	switch {
	case Problem(before) != Problem(after):
	case postponed && before.Check.State == after.Check.State && before.UpdateAvailable == after.UpdateAvailable:
		return event.Postponed
	case postponed || before.Check.State != after.Check.State && before.Check.State != sdk.CheckNever ||
		!after.UpdateAvailable ||
		before.UpdateKind.SemverDiff != after.UpdateKind.SemverDiff && update.Equal(&before, &after):
	case !update.Equal(&before, &after) || !sameDecision(&before, &after):
		return event.Decided
	case len(newLevels(&before, &after)) > 0:
		return event.Leveled
	}
	return ""
}

// Problem returns the error of a container; "" for none.
func Problem(c sdk.Container) string {
	if c.Error == nil {
		return ""
	}
	return c.Error.Message
}
