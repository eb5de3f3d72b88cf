package words

import (
	"cmp"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// describeOperation says how far the replacement of a container is, and the class of its colour.
func describeOperation(t event.Type, o event.Operation) (text, class string) {
	name, done := "update", "updated"
	if o.Kind == "rollback" {
		name, done = "rollback", "rolled back"
	}
	if o.DryRun {
		name, done = "dry run of the update", "image pulled"
	}
	switch t {
	case event.OperationQueued:
		return Joined(", by ", name+" to "+o.To+" is waiting", cmp.Or(o.Trigger, o.Actor)), ""
	case event.OperationStarted:
		return Joined(", by ", name+" to "+o.To+" began", cmp.Or(o.Trigger, o.Actor)), ""
	case event.OperationStep:
		switch {
		case o.Error != "":
			return name + ": " + o.Step + ": failed: " + o.Error, "failed"
		case o.Ended:
			return name + ": " + o.Step + ": done", ""
		}
		return name + ": " + o.Step, ""
	case event.OperationSucceeded:
		if o.DryRun {
			return done + ": " + o.To, "ok"
		}
		return done + ": " + o.From + " → " + o.To, "ok"
	case event.OperationRolledBack:
		return name + " to " + o.To + " did not work, the old container is back: " + o.Error, "failed"
	case event.OperationCancelled:
		return Joined(", by ", name+" to "+o.To+" was cancelled", o.By), ""
	case event.OperationCancelling:
		return Joined(", by ", name+" to "+o.To+" is to stop", o.By), ""
	}
	return name + " to " + o.To + " failed: " + o.Error, "failed"
}
