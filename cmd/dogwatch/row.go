package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// row is one container as it is printed.
type row struct {
	name, image, update string
	standing            standing
	// note is why the check failed, or what is odd although it did not.
	note      string
	container *sdk.Container
}

// standing is how a container stands, and the class of that.
type standing struct{ Word, Class string }

func standingOf(c *sdk.Container) standing {
	s := words.Standing(c)
	return standing{s.Word.String(), s.Class}
}

// urgency is the order of rows by the classes of their standings: what deserves attention first.
var urgency = []string{sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffPrerelease, tally.Other, sdk.KindDigest,
	"ok", "muted", "failed"}

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
			if e := rows[i].container.Error; e != nil && printable(e.Cause) == f.Text {
				rows[i].note = f.Text
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(slices.Index(urgency, a.standing.Class)-slices.Index(urgency, b.standing.Class),
			strings.Compare(a.name, b.name), strings.Compare(a.image, b.image))
	})
	return rows
}

func rowOf(c sdk.Container) row {
	r := row{name: printable(c.Name), image: printable(reference.Short(c.Image.Registry.Host, c.Image.Name)),
		update: c.Image.Tag.Value, standing: standingOf(&c), container: &c}
	if c.Watcher == "" {
		r.name = "" // an image that no engine runs has no name of its own
	}
	r.image = cmp.Or(r.image, printable(c.Name))
	if c.Error != nil {
		r.note = c.Error.Message
	}
	if c.Check.Postponed() {
		r.note = words.Joined("; ", r.note, words.Postponed(&c).String())
	}
	if tally.Unknown(&c) {
		r.note = c.Check.Reason
	}
	if c.UpdateAvailable {
		r.update = words.Update(&c).String() + tally.Also(&c)
	}
	if c.Image.Digest.Pinned {
		r.update += " (pinned)"
	}
	if c.Image.Tag.Floating {
		r.update += " (floats)"
	}
	r.update, r.note = printable(r.update), printable(r.note)
	return r
}

// outagesOf returns what several rows fail by.
func outagesOf(rows []row) []tally.Failure[row] {
	all := tally.Failures(rows, func(r row) (cause, err string) {
		if r.container.Error == nil {
			return "", ""
		}
		return printable(r.container.Error.Cause), printable(r.container.Error.Message)
	})
	return slices.DeleteFunc(all, func(f tally.Failure[row]) bool { return f.Detail == "" })
}
