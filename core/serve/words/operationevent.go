package words

import (
	"cmp"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// describeOperation says how far the replacement of a container is, and the class of its colour.
func describeOperation(t event.Type, o event.Operation) (said phrase.Phrase, class string) {
	from, to := Versions(watcher.PlannedImage{Reference: o.From}, watcher.PlannedImage{Reference: o.To})
	name, done := phrase.New("update"), phrase.New("updated")
	if o.Kind == "rollback" {
		name, done = phrase.New("rollback"), phrase.New("rolled back")
	}
	if o.DryRun {
		name, done = phrase.New("dry run of the update"), phrase.New("image pulled")
	}
	switch t {
	case event.OperationQueued:
		return by(phrase.New("%s to %s is waiting", name, to), cmp.Or(o.Trigger, o.Actor)), ""
	case event.OperationStarted:
		return by(phrase.New("%s to %s began", name, to), cmp.Or(o.Trigger, o.Actor)), ""
	case event.OperationStep:
		step := taken(o.Step)
		switch {
		case o.Error != "":
			return phrase.New("%s: %s: failed: %s", name, step, Outcome(o.Error)), "failed"
		case o.Ended:
			return phrase.New("%s: %s: done", name, step), ""
		}
		return phrase.Join(": ", name, step), ""
	case event.OperationSucceeded:
		if o.DryRun {
			return phrase.Join(": ", done, to), "ok"
		}
		if from.String() == to.String() { // the tag of an image that was rebuilt
			return phrase.Join(": ", done, to), "ok"
		}
		return phrase.Join(": ", done, phrase.Join(" → ", from, to)), "ok"
	case event.OperationRolledBack:
		return phrase.New("%s to %s did not work, the old container is back: %s", name, to, Outcome(o.Error)), "failed"
	case event.OperationCancelled:
		return by(phrase.New("%s to %s was cancelled", name, to), o.By), ""
	case event.OperationCancelling:
		return by(phrase.New("%s to %s is to stop", name, to), o.By), ""
	}
	return phrase.New("%s to %s failed: %s", name, to, Outcome(o.Error)), "failed"
}

// by says who or what did something, if that is known; where nobody logs in, it is not.
func by(said phrase.Phrase, who string) phrase.Phrase {
	if strings.HasPrefix(who, "rule ") {
		return phrase.Join(" ", said, phrase.New("automatically (%s)", preview.Source(who)))
	}
	return phrase.Join(", ", said, preview.By(who))
}
