package words

import (
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// Decision says what became of the update of a container.
func Decision(c sdk.Container) string {
	said := "update " + c.Decision.State
	if c.Result != nil {
		said = c.Result.Tag + " " + c.Decision.State
	}
	if c.Decision.State == sdk.StateHeld && len(c.Decision.Reasons) > 0 {
		said += ": " + c.Decision.Reasons[0].Text
	}
	return said
}

func Choice(t event.Type, c event.Choice) string {
	said := map[string]string{"skip": "skipped", "snooze": "snoozed", "approve": "approved"}[c.Action]
	if t == event.ChoiceUndone {
		said = "no longer " + said
	}
	if c.Version != "" {
		said = c.Version + " " + said
	}
	if !c.Until.IsZero() && t != event.ChoiceUndone {
		said += " until " + c.Until.Local().Format("2006-01-02 15:04")
	}
	return said + " by " + c.Actor
}

// notKnown says that nothing could be compared, and why.
func notKnown(c sdk.Container) string {
	return "not known whether there is anything newer: " + c.Check.Reason
}

// Postponed says that a check waits for a registry, or does so no more.
func Postponed(c sdk.Container) string {
	if !c.Check.Postponed() {
		return "checked again after a pause"
	}
	return "check postponed until " + Exact(c.Check.PostponedUntil.Time) + ": " + c.Check.PostponedReason
}

func imageOf(c sdk.Container) string {
	if c.Image.Tag.Value == "" {
		return c.Image.Name
	}
	return c.Image.Name + ":" + c.Image.Tag.Value
}

// step writes an update: "1.25 → 1.27 (minor)".
func step(c sdk.Container) string {
	if base := tally.Base(&c); base != "" && c.Result != nil {
		return "base image " + base + " → " + c.Result.Tag + "; rebuild"
	}
	if running, offered := tally.Versions(&c); running != "" {
		return c.Image.Tag.Value + " (" + running + " → " + offered + ")"
	}
	if c.UpdateKind.Kind == sdk.KindDigest {
		return c.Image.Tag.Value + " was rebuilt"
	}
	text := c.UpdateKind.LocalValue + " → " + c.UpdateKind.RemoteValue
	if d := c.UpdateKind.SemverDiff; d != "" && d != "unknown" {
		text += " (" + d + ")"
	}
	return text
}

func updateClass(c sdk.Container) string {
	switch d := c.UpdateKind.SemverDiff; {
	case d == sdk.DiffMajor, d == sdk.DiffMinor, d == sdk.DiffPatch:
		return d
	case c.UpdateKind.Kind == sdk.KindDigest:
		return "digest"
	}
	return "minor"
}
