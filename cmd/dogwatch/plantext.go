package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// levelLines are the versions that an update may lead to, with the flag that chooses each.
func levelLines(levels []api.PlanLevel) []string {
	return lines(levels, func(l api.PlanLevel) string {
		text := l.Version + " (" + l.Kind + ")"
		if l.SkippedBy != "" {
			text += ", skipped by " + l.SkippedBy
		}
		if l.Chosen {
			return text + ", chosen"
		}
		return text + ": --version " + l.Version
	})
}

// releaseLines are what release notes warn of.
func releaseLines(releases []api.PlanRelease) (texts []string) {
	if len(releases) == 0 {
		return nil
	}
	renderer := notes.NewRenderer()
	for _, r := range releases {
		for _, line := range r.Breaking {
			texts = append(texts, r.Version+" breaking: "+renderer.Plain(line))
		}
		for _, line := range r.Action {
			texts = append(texts, r.Version+" to do: "+renderer.Plain(line))
		}
	}
	return texts
}

// kindNote says how much an update changes; "" where that is not known.
func kindNote(p api.Plan) string {
	switch {
	case p.Major && p.Kind != sdk.DiffMajor: // as its vendor counts
		return "  (" + p.Kind + ", as a major update)"
	case p.Kind != "":
		return "  (" + p.Kind + ")"
	}
	return ""
}

// planTitle is the line that says which image a container gets.
func planTitle(s style, name string, p api.Plan) string {
	return s.paint(printable(name), "1") + "  " + printable(p.From.Reference+arrow+p.To.Reference) + kindNote(p) + "\n"
}

// sectionOf returns what writes lines below a title; nothing where there are none.
func sectionOf(b *strings.Builder, s style) func(title string, lines []string) {
	return func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		b.WriteString(s.paint(title, "1") + "\n")
		for _, text := range lines {
			b.WriteString("  " + printable(text) + "\n")
		}
	}
}

// writeWarnings writes what is to know of a plan that is carried out without asking.
func writeWarnings(w io.Writer, s style, name string, p api.Plan) error {
	var b strings.Builder
	b.WriteString(planTitle(s, name, p))
	sectionOf(&b, s)("Warnings", reasonLines(p.Warnings))
	_, err := io.WriteString(w, b.String())
	return err
}

// writePlan writes a plan as text.
func writePlan(w io.Writer, s style, name string, p api.Plan) error {
	var b strings.Builder
	b.WriteString(planTitle(s, name, p))
	line := func(text string) { b.WriteString("  " + printable(text) + "\n") }
	section := sectionOf(&b, s)
	if p.From.Digest != "" {
		line("from " + p.From.Digest)
	}
	if p.To.Digest != "" {
		line("to   " + p.To.Digest)
	}
	space := watcher.Space{Download: orZero(p.Space.Download), Writable: orZero(p.Space.Writable)}
	if text := words.Space(space); text != nil {
		line(text.String())
	}
	section("Steps", stepLines(p.Steps))
	section("Carried over", lines(p.Carried, func(c api.Setting) string {
		return strings.TrimSuffix(c.Name+" = "+c.Value, " = ")
	}))
	section("Defaults that change", lines(p.Changes, func(c api.ImageChange) string {
		return fmt.Sprintf("%s: %s → %s", c.Name, orNone(c.Before), orNone(c.After))
	}))
	section("Files that change", fileLines(p.Files))
	section("Other containers", lines(p.Dependents, dependentText))
	section("Kept predecessors", lines(p.Backups, backupText))
	section("Versions", levelLines(p.Levels))
	section("Release notes", releaseLines(p.Releases))
	section("Warnings", reasonLines(p.Warnings))
	section("Blocked", reasonLines(p.Blocks))
	writePaste(&b, p.Paste)
	_, err := io.WriteString(w, b.String())
	return err
}

func stepLines(steps []api.PlanStep) []string {
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = fmt.Sprintf("%d. %s", i+1, s.Text)
	}
	return texts
}

// fileLines are the places that change, each with its diff below it.
func fileLines(files []api.FileChange) (texts []string) {
	for _, f := range files {
		texts = append(texts, fmt.Sprintf("%s, line %d", f.Path, f.Line))
		for diff := range strings.Lines(f.Diff) {
			texts = append(texts, "  "+strings.TrimRight(diff, "\r\n"))
		}
	}
	return texts
}

func dependentText(d api.Dependent) string {
	what := map[string]string{watcher.StepCreate: "is recreated too", watcher.StepRestart: "is restarted too"}[d.Action]
	if what == "" {
		what = d.Action
	}
	return fmt.Sprintf("%s (%s) %s", d.Name, d.Relation, what)
}

func backupText(k api.Backup) string {
	created := ""
	if !k.Created.IsZero() {
		created = "created " + preview.Moment(k.Created.Time).String()
	}
	return words.Joined("  ", k.Name, k.Image, created, phrase.English(words.Bytes(orZero(k.Size))))
}

func orZero(bytes *int64) int64 {
	if bytes == nil {
		return 0
	}
	return *bytes
}

func reasonLines(reasons []api.Reason) []string {
	return lines(reasons, func(r api.Reason) string {
		text := fmt.Sprintf("%s (%s)", r.Text, r.Code)
		if r.Acknowledge {
			text += "; accept it with --acknowledge " + r.Code
		}
		return text
	})
}
