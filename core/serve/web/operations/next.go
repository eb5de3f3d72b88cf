package operations

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// nextOf says what a user does about an operation that did not do what it was to; nil where nothing is left to do.
func nextOf(op operation.Operation) phrase.Phrase {
	to := words.TagOf(op.Image.Reference)
	interrupted := op.Outcome != nil && op.Outcome.Reason.Code == watcher.ReasonInterrupted
	switch {
	case op.State == operation.RolledBack && interrupted:
		return phrase.New("The container runs as before. Once Dogwatch and the engine are up, plan it again.")
	case op.State == operation.RolledBack && op.Kind == operation.Rollback:
		return phrase.New("The container runs as before, so there is no hurry. Fix what failed, then plan it again.")
	case op.State == operation.RolledBack && op.Outcome != nil && op.Outcome.Evidence != nil &&
		op.Outcome.Evidence.Log != "":
		return phrase.New("The container runs as before, so there is no hurry. The log below shows why %s failed. Fix that "+
			"and plan it again, or open %s, choose %s and press Not now.", to, op.Name, to)
	case op.State == operation.RolledBack:
		return phrase.New("The container runs as before, so there is no hurry. Fix what failed and plan it again, or open "+
			"%s, choose %s and press Not now.", op.Name, to)
	case op.State == operation.Cancelled:
		return phrase.New("The container runs as before. To carry it out after all, plan it again.")
	case op.State == operation.Failed && (op.Outcome == nil || op.Outcome.State == watcher.Unchanged):
		return phrase.New("Nothing was changed. Once the reason is gone, plan it again.")
	case op.State == operation.Failed:
		return phrase.New("Dogwatch cannot tell whether the container is as it was: look at it on its host, then plan it again.")
	case op.State == operation.Succeeded && op.Rules.DryRun:
		return phrase.New("Nothing was changed. To carry it out, plan it again.")
	}
	return nil
}
