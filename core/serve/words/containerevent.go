package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// Decision says what became of the update of a container, and why: "1.27 is held: it is 2 days old, younger than 7".
func Decision(c *sdk.Container) string {
	if c.Decision == nil {
		return "no update"
	}
	text := "the update is "
	if c.Result != nil && c.UpdateKind.Kind != sdk.KindDigest {
		text = c.Result.Tag + " is "
	}
	reasons := make([]string, len(c.Decision.Reasons))
	for i, r := range c.Decision.Reasons {
		reasons[i] = preview.Sentence(r)
	}
	return Joined(": ", text+c.Decision.State, strings.Join(reasons, "; "))
}

// Choice says what a user decided about an update, and who.
func Choice(t event.Type, c event.Choice) string {
	text := map[string]string{"skip": "skipped", "snooze": "snoozed", "approve": "approved"}[c.Action]
	if t == event.ChoiceUndone {
		text = "no longer " + text
	}
	text = Joined(" ", c.Version, text)
	if !c.Until.IsZero() && t != event.ChoiceUndone {
		text += " until " + preview.Moment(c.Until.Time).String()
	}
	return text + " by " + c.Actor
}

// notKnown says that nothing could be compared, and why.
func notKnown(c *sdk.Container) string {
	return Joined(": ", "not known whether there is anything newer", c.Check.Reason)
}

// Postponed says until when a check waits for a registry, and why.
func Postponed(c *sdk.Container) string {
	return "postponed until " + Exact(c.Check.PostponedUntil.Time) + ": " + c.Check.PostponedReason
}

func imageOf(c *sdk.Container) string { return Joined(":", c.Image.Name, c.Image.Tag.Value) }

// Update says from what to what an update leads: "1.25 → 1.27", "stable (1.25 → 1.27)", "base node:22 → 24; rebuild".
func Update(c *sdk.Container) string {
	to := c.UpdateKind.RemoteValue
	if tally.Rebuilt(c) {
		to = Digest(to)
	}
	running, offered := tally.Versions(c)
	switch base := tally.Base(c); {
	case base != "":
		return "base " + base + " → " + to + "; rebuild"
	case running != "":
		return c.Image.Tag.Value + " (" + running + " → " + offered + ")"
	case tally.Rebuilt(c):
		return c.Image.Tag.Value + " " + Digest(c.UpdateKind.LocalValue) + " → " + to
	}
	return c.UpdateKind.LocalValue + " → " + to
}
