package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// severity orders rows: what deserves attention first.
type severity int

const (
	majorUpdate severity = iota
	minorUpdate
	patchUpdate
	otherUpdate // a version that differs in a way that has no name
	digestUpdate
	upToDate
	notCompared
	checkFailed
)

// row is one container as it is printed.
type row struct {
	name, image, update, kind string
	// note is why the check failed, or what is odd although it did not.
	note     string
	severity severity
	of       *sdk.Container
}

// rowsOf returns the rows of containers, those that deserve attention first.
func rowsOf(containers []sdk.Container) []row {
	watchers := map[string]bool{}
	for _, c := range containers {
		if c.Watcher != "" {
			watchers[c.Watcher] = true
		}
	}
	rows := make([]row, 0, len(containers))
	for _, c := range containers {
		r := rowOf(c)
		if len(watchers) > 1 && c.Watcher != "" {
			r.name = c.Watcher + "/" + r.name
		}
		rows = append(rows, r)
	}
	for _, f := range outagesOf(rows) { // which the last line explains once
		for i := range rows {
			if e := rows[i].of.Error; e != nil && printable(e.Cause) == f.Text {
				rows[i].note = f.Text
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), strings.Compare(a.name, b.name), strings.Compare(a.image, b.image))
	})
	return rows
}

func rowOf(c sdk.Container) row {
	r := row{name: printable(c.Name), image: printable(reference.Short(c.Image.Registry.Host, c.Image.Name)),
		update: printable(c.Image.Tag.Value), severity: upToDate, kind: "up to date", of: &c}
	if c.Watcher == "" {
		r.name = "" // an image that no engine runs has no name of its own
	}
	if r.image == "" {
		r.image = printable(c.Name)
	}
	if c.Error != nil {
		r.note = printable(c.Error.Message)
	}
	if c.Check.Postponed() {
		r.note = strings.TrimPrefix(r.note+"; "+
			printable(fmt.Sprintf("%s: postponed until %s", c.Check.PostponedReason,
				c.Check.PostponedUntil.UTC().Format("2006-01-02 15:04:05 MST"))), "; ")
	}
	switch kind := tally.Kind(&c); {
	case tally.Rebuilt(&c):
		r.severity, r.kind = severityOf(kind)
		if running, offered := tally.Versions(&c); running != "" {
			r.update += printable(fmt.Sprintf(" (%s → %s)", running, offered))
			break
		}
		r.update += fmt.Sprintf(" %s → %s", digestText(c.UpdateKind.LocalValue), digestText(c.UpdateKind.RemoteValue))
	case kind != "":
		r.severity, r.kind = severityOf(kind)
		r.update = printable(c.UpdateKind.LocalValue + " → " + c.UpdateKind.RemoteValue + tally.Also(&c))
	default:
		r.severity, r.kind = severityOfPart(tally.PartOf(&c))
		if tally.Failed(&c) && c.Check.Succeeded() {
			r.kind = "wrong label"
		}
		if r.severity == notCompared {
			r.note = printable(c.Check.Reason)
		}
	}
	if base := tally.Base(&c); base != "" && tally.Kind(&c) != "" && c.Check.State != sdk.CheckFailed {
		r.update = printable(fmt.Sprintf("base %s → %s; rebuild", base, c.Result.Tag))
		if tally.Rebuilt(&c) {
			r.update = printable(fmt.Sprintf("base %s → %s; rebuild", base, digestText(c.UpdateKind.RemoteValue)))
		}
	}
	if c.Image.Digest.Pinned {
		r.update += " (pinned)"
	}
	if c.Image.Tag.Floating {
		r.update += " (floats)"
	}
	return r
}

// severityOf returns the severity of a kind of update, and its word in a row.
func severityOf(kind string) (severity, string) {
	switch kind {
	case sdk.DiffMajor:
		return majorUpdate, kind
	case sdk.DiffMinor:
		return minorUpdate, kind
	case sdk.DiffPatch, sdk.DiffPrerelease:
		return patchUpdate, kind
	case sdk.KindDigest:
		return digestUpdate, tally.Word(kind)
	}
	return otherUpdate, tally.Word(tally.Other)
}

// severityOfPart returns the severity of containers without update, and their word in a row.
func severityOfPart(part tally.Part) (severity, string) {
	switch part {
	case tally.Current:
		return upToDate, "up to date"
	case tally.Unchecked:
		return checkFailed, "not checked"
	case tally.NotCompared:
		return notCompared, string(part)
	}
	return checkFailed, string(part)
}

// digestText returns the part of a digest that a reader compares.
func digestText(digest string) string {
	_, hex, found := strings.Cut(digest, ":")
	if !found {
		return "?"
	}
	return hex[:min(len(hex), shortDigest)]
}

// outagesOf returns what several rows fail by.
func outagesOf(rows []row) []tally.Failure[row] {
	all := tally.Failures(rows, func(r row) (cause, err string) {
		if r.of.Error == nil {
			return "", ""
		}
		return printable(r.of.Error.Cause), printable(r.of.Error.Message)
	})
	return slices.DeleteFunc(all, func(f tally.Failure[row]) bool { return f.Detail == "" })
}
