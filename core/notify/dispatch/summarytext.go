package dispatch

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// open is how many updates wait and can be carried out, or will be.
func (s summary) open() int { return len(s.approval) + len(s.offered) + len(s.automatic) }

const (
	// summaryLines is at most how many containers each part of a summary names.
	summaryLines = 50
	// namesListed is at most how many containers a line about what they have in common names.
	namesListed = 9
)

// summary is what a summary tells.
type summary struct {
	updated, failed                    []event.Event
	approval, offered, automatic, held []sdk.Container
	// unchecked are those whose checks fail now.
	unchecked []sdk.Container
}

// empty reports whether nothing was done and nothing is to be decided. What is held alone needs no message.
func (s summary) empty() bool {
	return len(s.updated)+len(s.failed)+len(s.approval)+len(s.offered)+len(s.automatic) == 0
}

func (s summary) counts() *trigger.Summary {
	return &trigger.Summary{
		Updated: len(s.updated), Failed: len(s.failed), Approval: len(s.approval), Offered: len(s.offered),
		Automatic: len(s.automatic), Held: len(s.held),
	}
}

// headline says in one line how many there are of each.
func (s summary) headline() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{len(s.failed), "did not work"}, {len(s.updated), "updated"}, {len(s.approval), "to approve"},
		{len(s.offered), "offered"}, {len(s.automatic), "automatic"}, {len(s.held), "held"},
		{len(s.unchecked), "could not be checked"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing to do")
}

// text lists the containers, what needs the reader first.
func (s summary) text() string {
	var b strings.Builder
	part(&b, "Did not work", s.failed, func(e event.Event) string {
		return endLine(e) + ": " + cmp.Or(firstLine(e.Operation.Error), "no reason is known")
	})
	part(&b, "To approve", s.approval, updateLine)
	part(&b, "Offered", s.offered, updateLine)
	part(&b, "Updated", s.updated, endLine)
	part(&b, "Will be updated by rule", s.automatic, updateLine)
	part(&b, "Held", s.held, func(c sdk.Container) string { return updateLine(c) + heldBecause(c) })
	part(&b, "Could not be checked", tally.Failures(s.unchecked, failureOf), failureLine)
	return cmp.Or(strings.TrimSuffix(b.String(), "\n"), "Nothing was done, and nothing is to be decided.")
}

// part writes a title and a line for each.
func part[T any](b *strings.Builder, title string, list []T, line func(T) string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", title)
	for i, one := range list {
		if i == summaryLines {
			fmt.Fprintf(b, "- and %d more\n", len(list)-i)
			break
		}
		fmt.Fprintf(b, "- %s\n", line(one))
	}
	b.WriteString("\n")
}

// endLine says which update or rollback ended.
func endLine(e event.Event) string {
	_, name, _ := strings.Cut(e.Subject, "/")
	line := fmt.Sprintf("%s: %s → %s", name, shortImage(e.Operation.From), shortImage(e.Operation.To))
	if e.Operation.Kind == string(operation.Rollback) {
		line += ", a rollback"
	}
	if by := cmp.Or(e.Operation.Trigger, e.Operation.Actor); by != "" {
		line += ", by " + by
	}
	return line
}

func failureOf(c sdk.Container) (cause, err string) {
	if c.Error == nil {
		return "", "no reason is known"
	}
	return c.Error.Cause, firstLine(c.Error.Message)
}

// failureLine says why containers could not be checked, and which.
func failureLine(f tally.Failure[sdk.Container]) string {
	var names []string
	for _, c := range f.Of {
		names = append(names, c.Name)
	}
	if f.Detail != "" {
		return fmt.Sprintf("%s: %d containers (%s)", f.Text, len(names), enumerate(names, namesListed))
	}
	return fmt.Sprintf("%s: %s", enumerate(names, namesListed), f.Text)
}

// enumerate writes some of the names, and how many more there are.
func enumerate(names []string, most int) string {
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// updateLine says which update a container has.
func updateLine(c sdk.Container) string {
	u := c.UpdateKind
	if running, offered := tally.Versions(&c); running != "" {
		return fmt.Sprintf("%s: %s (%s → %s)", c.Name, c.Image.Tag.Value, running, offered)
	}
	if u.Kind == sdk.KindDigest {
		return fmt.Sprintf("%s: %s was rebuilt", c.Name, c.Image.Tag.Value)
	}
	line := fmt.Sprintf("%s: %s → %s", c.Name, u.LocalValue, u.RemoteValue)
	if u.SemverDiff != "" && u.SemverDiff != sdk.DiffUnknown {
		line += " (" + u.SemverDiff + ")"
	}
	return line
}

// heldBecause says what holds an update, and until when.
func heldBecause(c sdk.Container) string {
	if c.Decision == nil || len(c.Decision.Reasons) == 0 {
		return ""
	}
	return ", " + firstLine(phrase.English(preview.Lasting(c.Decision.Reasons[0])))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// shortImage leaves out what a reference has by default.
func shortImage(reference string) string {
	short, hub := strings.CutPrefix(reference, "docker.io/")
	if hub {
		short = strings.TrimPrefix(short, "library/")
	}
	return cmp.Or(short, "an unknown image")
}
