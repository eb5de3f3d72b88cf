package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
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
