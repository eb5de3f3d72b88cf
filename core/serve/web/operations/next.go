package operations

import (
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// nextOf says what a user does about an operation that did not do what it was to; "" where nothing is left to do.
func nextOf(op operation.Operation) string {
	again, interrupted := "plan it again", op.Outcome != nil && op.Outcome.Reason.Code == watcher.ReasonInterrupted
	switch {
	case op.State == operation.RolledBack && interrupted:
		return "The container runs as before. Once Dogwatch and the engine are up, " + again + "."
	case op.State == operation.RolledBack:
		return "The container runs as before, so there is no hurry. Read what the new one left; then change what it needs and " +
			again + ", or skip this version on the page of the container."
	case op.State == operation.Cancelled:
		return "The container runs as before. To carry it out after all, " + again + "."
	case op.State == operation.Failed && (op.Outcome == nil || op.Outcome.State == watcher.Unchanged):
		return "Nothing was changed. Once the reason is gone, " + again + "."
	case op.State == operation.Failed:
		return "Dogwatch cannot tell whether the container is as it was: look at it on its host, then " + again + "."
	case op.State == operation.Succeeded && op.Rules.DryRun:
		return "Nothing was changed. To carry it out, " + again + "."
	}
	return ""
}
