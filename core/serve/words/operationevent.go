package words

import (
	"cmp"

	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// describeOperation says how far the replacement of a container is, and the class of its colour.
func describeOperation(t event.Type, o event.Operation) (said phrase.Phrase, class string) {
	name, done := phrase.New("update"), phrase.New("updated")
	if o.Kind == "rollback" {
		name, done = phrase.New("rollback"), phrase.New("rolled back")
	}
	if o.DryRun {
		name, done = phrase.New("dry run of the update"), phrase.New("image pulled")
	}
	switch t {
	case event.OperationQueued:
		return by(phrase.New("%s to %s is waiting", name, o.To), cmp.Or(o.Trigger, o.Actor)), ""
	case event.OperationStarted:
		return by(phrase.New("%s to %s began", name, o.To), cmp.Or(o.Trigger, o.Actor)), ""
	case event.OperationStep:
		step := taken(o.Step)
		switch {
		case o.Error != "":
			return phrase.New("%s: %s: failed: %s", name, step, phrase.Quote(o.Error)), "failed"
		case o.Ended:
			return phrase.New("%s: %s: done", name, step), ""
		}
		return phrase.Join(": ", name, step), ""
	case event.OperationSucceeded:
		if o.DryRun {
			return phrase.Join(": ", done, phrase.Verbatim(o.To)), "ok"
		}
		return phrase.Join(": ", done, phrase.Verbatim(o.From+" → "+o.To)), "ok"
	case event.OperationRolledBack:
		return phrase.New("%s to %s did not work, the old container is back: %s", name, o.To, phrase.Quote(o.Error)), "failed"
	case event.OperationCancelled:
		return by(phrase.New("%s to %s was cancelled", name, o.To), o.By), ""
	case event.OperationCancelling:
		return by(phrase.New("%s to %s is to stop", name, o.To), o.By), ""
	}
	return phrase.New("%s to %s failed: %s", name, o.To, phrase.Quote(o.Error)), "failed"
}

// by says who or what did something, if that is known.
func by(said phrase.Phrase, who string) phrase.Phrase {
	if who == "" {
		return said
	}
	return phrase.New("%s, by %s", said, preview.Source(who))
}
