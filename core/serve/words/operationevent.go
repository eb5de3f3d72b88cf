package words

import (
	"github.com/dogwatch/dogwatch/core/model/event"
)

// describeOperation says how far the replacement of a container is, and the class of its colour.
func describeOperation(t event.Type, o event.Operation) (said, class string) {
	name, done := "update", "updated"
	if o.Kind == "rollback" {
		name, done = "rollback", "rolled back"
	}
	if o.DryRun {
		name, done = "dry run of the update", "image pulled"
	}
	by := ""
	switch {
	case o.Trigger != "":
		by = ", by " + o.Trigger
	case o.Actor != "":
		by = ", by " + o.Actor
	}
	switch t {
	case event.OperationQueued:
		return name + " to " + o.To + " is waiting" + by, ""
	case event.OperationStarted:
		return name + " to " + o.To + " began" + by, ""
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
		return name + " to " + o.To + " was cancelled" + cancelledBy(o), ""
	case event.OperationCancelling:
		return name + " to " + o.To + " is to stop" + cancelledBy(o), ""
	}
	return name + " to " + o.To + " failed: " + o.Error, "failed"
}

// cancelledBy says who cancelled an operation.
func cancelledBy(o event.Operation) string {
	if o.By == "" {
		return ""
	}
	return ", by " + o.By
}
