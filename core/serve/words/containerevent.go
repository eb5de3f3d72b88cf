package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// Decision says what became of the update of a container, and why: "1.27 is held: it is 2 days old, younger than 7".
func Decision(c *sdk.Container) phrase.Phrase {
	if c.Decision == nil {
		return phrase.New("no update")
	}
	text := phrase.New("the update is %s", Decided(c.Decision.State))
	var by phrase.Phrase
	var reasons []phrase.Phrase
	for _, r := range c.Decision.Reasons {
		if r.Code == policy.ReasonAutomatic { // as the state says
			by = preview.Source(r.Source)
			continue
		}
		reasons = append(reasons, preview.Sentence(r))
	}
	switch {
	case by != nil && c.Result != nil && c.UpdateKind.Kind != sdk.KindDigest:
		text = phrase.New("%s will be installed automatically (%s)", c.Result.Tag, by)
	case by != nil:
		text = phrase.New("the update will be installed automatically (%s)", by)
	case c.Result == nil || c.UpdateKind.Kind == sdk.KindDigest:
	case len(reasons) > 0 && strings.HasPrefix(c.Decision.Reasons[0].Text, c.Result.Tag+" "): // which names it
		text = Decided(c.Decision.State)
	default:
		text = phrase.New("%s is %s", c.Result.Tag, Decided(c.Decision.State))
	}
	return phrase.Join(": ", text, phrase.Join("; ", reasons...))
}

// Choice says what a user decided about an update, and who.
func Choice(t event.Type, c event.Choice) phrase.Phrase {
	if t == event.ChoiceUndone {
		text := phrase.New("no longer %s", chosen(c.Action))
		return phrase.Join(" ", phrase.Verbatim(c.Version), text, preview.By(c.Actor))
	}
	var until phrase.Phrase
	if !c.Until.IsZero() {
		until = phrase.New("until %s", preview.Moment(c.Until.Time))
	}
	return phrase.Join(" ", phrase.Verbatim(c.Version), chosen(c.Action), until, preview.By(c.Actor))
}

// chosen is what an action makes of an update.
func chosen(action string) phrase.Phrase {
	switch action {
	case "skip":
		return phrase.New("skipped")
	case "snooze":
		return phrase.New("snoozed")
	}
	return phrase.New("approved")
}

// notKnown says that nothing could be compared, and why.
func notKnown(c *sdk.Container) phrase.Phrase {
	return phrase.Join(": ", phrase.New("not known whether there is anything newer"), preview.Uncompared(c.Check.Reason))
}

// Postponed says until when a check waits for a registry, and why.
func Postponed(c *sdk.Container) phrase.Phrase { return phrase.New("postponed %s", PostponedUntil(c)) }

// PostponedUntil says until when a check waits for a registry, and why: "until …: docker.io limits requests".
func PostponedUntil(c *sdk.Container) phrase.Phrase {
	return phrase.New("until %s: %s", Exact(c.Check.PostponedUntil.Time), phrase.Quote(c.Check.PostponedReason))
}

// Cause is what several checks failed by, or the error of one.
func Cause(text string) phrase.Phrase {
	return phrase.Read(text, "%s is unavailable", "%s refuses access")
}

func imageOf(c *sdk.Container) string { return Joined(":", c.Image.Name, c.Image.Tag.Value) }

// Update says from what to what an update leads: "1.25 → 1.27", "stable (1.25 → 1.27)", "base node:22 → 24; rebuild".
func Update(c *sdk.Container) phrase.Phrase {
	to := c.UpdateKind.RemoteValue
	if tally.Rebuilt(c) {
		to = Digest(to)
	}
	running, offered := tally.Versions(c)
	switch base := tally.Base(c); {
	case base != "":
		return phrase.New("base %s → %s; rebuild", base, to)
	case running != "":
		return phrase.Verbatim(c.Image.Tag.Value + " (" + running + " → " + offered + ")")
	case tally.Rebuilt(c):
		return phrase.Verbatim(c.Image.Tag.Value + " " + Digest(c.UpdateKind.LocalValue) + " → " + to)
	}
	return phrase.Verbatim(c.UpdateKind.LocalValue + " → " + to)
}
