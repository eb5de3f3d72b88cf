package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/sdk"
)

// Step is the step that a trigger reported, in words: "pull: layer 3 (3 of 10)"; nil for none.
func Step(p dispatch.Progress) phrase.Phrase {
	text := phrase.Join(": ", phrase.Quote(p.Phase), phrase.Quote(p.Message))
	switch {
	case p.Total <= 0:
		return text
	case text == nil:
		return phrase.New("%d of %d", p.Current, p.Total)
	}
	return phrase.New("%s (%d of %d)", text, p.Current, p.Total)
}

// Delivery says what a delivery is about: the name of its container, or "3 containers of local".
func Delivery(d delivery.Delivery, name string) phrase.Phrase {
	if watcher, batch := strings.CutPrefix(d.Subject, "batch/"); batch && d.Batch {
		return phrase.New("%s of %s", phrase.Count(len(d.Containers), "container"), watcher)
	}
	if d.Subject == "backlog" {
		return phrase.New("all pending updates")
	}
	if d.Subject == "summary" {
		return phrase.New("a summary")
	}
	if d.Manual {
		return phrase.New("%s, asked for by hand", name)
	}
	return phrase.Verbatim(name)
}

// Undelivered is an error of a trigger without its name, which stands beside it.
func Undelivered(trigger, err string) string { return strings.TrimPrefix(err, "trigger."+trigger+": ") }

// NotSent says why a message was not sent after all: "the update is held: snoozed until the next version"; nil where
// nobody knows.
func NotSent(err string) phrase.Phrase {
	reason, held := strings.CutPrefix(err, "the update is held: ")
	if !held {
		return phrase.Read(err, "the update is no longer pending", "a later message says the same")
	}
	said := phrase.Read(reason, "skipped", "snoozed until the next version", "snoozed until %s")
	if phrase.IsVerbatim(said) {
		said = preview.Reason(sdk.Reason{Text: reason})
	}
	return phrase.New("the update is held: %s", said)
}
