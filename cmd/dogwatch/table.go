package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// style is how a table is written.
type style struct {
	width  int // 0: as wide as it needs to be
	colour bool
}

// styleOf returns what suits w: colours and the width of a terminal, or neither.
func styleOf(w io.Writer) style {
	width, ok := terminal(w)
	return style{width: width, colour: ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// colours are the SGR parameters (ECMA-48, section 8.3.117) of the classes of standings.
var colours = map[string]string{
	sdk.DiffMajor: "31", sdk.DiffMinor: "33", sdk.DiffPatch: "34", sdk.DiffPrerelease: "34", tally.Other: "34",
	sdk.KindDigest: "34", "ok": "32", "muted": "35", "failed": "35",
}

func (s style) paint(text, sgr string) string {
	if !s.colour || sgr == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// fitting shortens what stands in each column.
var fitting = [4]func(text string, width int) string{clip, clipImage, clipUpdate, clip}

// writeTable writes rows in columns and a last line below them.
func (s style) writeTable(w io.Writer, rows []row, last string) error {
	columns, fits := s.columns(rows)
	if !fits {
		return s.writeStack(w, rows, last)
	}
	var b strings.Builder
	line := func(cells [4]string, sgr string) {
		var text strings.Builder
		for i, width := range columns {
			if width == 0 {
				continue
			}
			cell := fitting[i](cells[i], width)
			if i < len(columns)-1 {
				cell += strings.Repeat(" ", width-utf8.RuneCountInString(cell)+gap)
			}
			text.WriteString(cell)
		}
		b.WriteString(s.paint(strings.TrimRight(text.String(), " "), sgr) + "\n")
	}
	if len(rows) > 0 {
		line([4]string{"NAME", "IMAGE", "UPDATE", "KIND"}, "1")
	}
	for _, r := range rows {
		line([4]string{r.name, r.image, r.update, r.standing.Word}, colours[r.standing.Class])
		for _, part := range wrap(r.note, s.width-2*gap) {
			b.WriteString(strings.Repeat(" ", 2*gap) + part + "\n")
		}
	}
	return s.writeLast(w, &b, last)
}

// writeStack writes each row in lines of its own, for terminals that are too
// narrow for columns.
func (s style) writeStack(w io.Writer, rows []row, last string) error {
	var b strings.Builder
	for _, r := range rows {
		title, rest := r.name, []string{clipImage(r.image, s.width-2*gap), r.update}
		if title == "" {
			title, rest = r.image, rest[1:]
		}
		b.WriteString(s.paint(clip(title, s.width-len(r.standing.Word)-gap)+strings.Repeat(" ", gap)+r.standing.Word,
			colours[r.standing.Class]) + "\n")
		for i, text := range append(rest, wrap(r.note, s.width-2*gap)...) {
			if i < len(rest) {
				text = clipUpdate(text, s.width-2*gap)
			}
			b.WriteString(strings.Repeat(" ", 2*gap) + text + "\n")
		}
	}
	return s.writeLast(w, &b, last)
}

// writeLast writes what b has of rows, and the last sentence below them.
func (s style) writeLast(w io.Writer, b *strings.Builder, last string) error {
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	for _, part := range wrap(last, s.width) {
		b.WriteString(s.paint(part, "1") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// columns returns the widths of the columns, and whether they fit. When they do
// not at first, updates leave out what goes without saying, then the wider of
// name and image gives way, and the update only when both are cut short; a
// column without content has no width.
func (s style) columns(rows []row) (widths [4]int, fits bool) {
	widths = widthsOf(rows, func(update string) string { return update })
	if s.width == 0 || len(rows) == 0 || total(widths) <= s.width {
		return widths, true
	}
	widths = widthsOf(rows, brieflyUpdate)
	for total(widths) > s.width {
		cut := 0
		if widths[1] > widths[0] {
			cut = 1
		}
		if widths[cut] <= narrowest {
			cut = 2
		}
		if widths[cut] <= narrowest {
			return widths, false
		}
		widths[cut]--
	}
	return widths, true
}

// widthsOf returns how wide the columns would like to be.
func widthsOf(rows []row, shown func(update string) string) [4]int {
	widths := [4]int{4, 5, 6, 4}
	named := false
	for _, r := range rows {
		named = named || r.name != ""
		for i, cell := range []string{r.name, r.image, shown(r.update), r.standing.Word} {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	if !named {
		widths[0] = 0
	}
	return widths
}

// total is the width of all columns and what is between them.
func total(widths [4]int) int {
	sum := widths[3]
	for _, width := range widths[:3] {
		if width > 0 {
			sum += width + gap
		}
	}
	return sum
}

// writeMarkdown writes rows as a table of Markdown.
func writeMarkdown(w io.Writer, rows []row, last string) error {
	var b strings.Builder
	cells := func(texts ...string) {
		for _, t := range texts {
			b.WriteString("| " + strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(t) + " ")
		}
		b.WriteString("|\n")
	}
	if len(rows) > 0 {
		cells("Name", "Image", "Update", "Kind")
		b.WriteString("|---|---|---|---|\n")
	}
	for _, r := range rows {
		text := r.standing.Word
		if r.note != "" {
			text += ": " + r.note
		}
		cells(r.name, r.image, r.update, text)
	}
	if len(rows) > 0 {
		b.WriteString("\n")
	}
	b.WriteString(last + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}
