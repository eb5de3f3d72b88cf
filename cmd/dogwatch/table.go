package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
	checkFailed
)

// row is one container as it is printed.
type row struct {
	name, image, update, kind string
	// note is why the check failed, or what is odd although it did not.
	note     string
	severity severity
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
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), strings.Compare(a.name, b.name), strings.Compare(a.image, b.image))
	})
	return rows
}

func rowOf(c sdk.Container) row {
	r := row{name: printable(c.Name), image: printable(familiar(c.Image)), update: printable(c.Image.Tag.Value), severity: upToDate, kind: "up to date"}
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
		r.note = strings.TrimPrefix(r.note+"; "+printable(fmt.Sprintf("%s: postponed until %s", c.Check.PostponedReason, c.Check.PostponedUntil.UTC().Format("2006-01-02 15:04:05 MST"))), "; ")
	}
	switch {
	case c.Check.State == sdk.CheckFailed:
		r.severity, r.kind = checkFailed, "failed"
	case c.UpdateKind.Kind == sdk.KindDigest:
		r.severity, r.kind = digestUpdate, sdk.KindDigest
		r.update += fmt.Sprintf(" %s → %s", short(c.UpdateKind.LocalValue), short(c.UpdateKind.RemoteValue))
	case c.UpdateAvailable:
		r.severity, r.kind = severityOf(c.UpdateKind.SemverDiff)
		r.update = printable(c.UpdateKind.LocalValue + " → " + c.UpdateKind.RemoteValue)
	case c.Check.Postponed():
		r.severity, r.kind = checkFailed, postponed
	case c.Check.State == sdk.CheckNever:
		r.severity, r.kind = checkFailed, "not checked"
	}
	if c.Image.Digest.Pinned {
		r.update += " (pinned)"
	}
	if c.Image.Tag.Floating {
		r.update += " (floats)"
	}
	return r
}

func severityOf(diff string) (severity, string) {
	switch diff {
	case sdk.DiffMajor:
		return majorUpdate, diff
	case sdk.DiffMinor:
		return minorUpdate, diff
	case sdk.DiffPatch, sdk.DiffPrerelease:
		return patchUpdate, diff
	}
	return otherUpdate, sdk.KindTag
}

// familiar writes an image as people do: nginx, ghcr.io/owner/app.
func familiar(img sdk.Image) string {
	if img.Name == "" || img.Registry.Host == "" {
		return img.Name
	}
	if img.Registry.Host == "docker.io" {
		return strings.TrimPrefix(img.Name, "library/")
	}
	return img.Registry.Host + "/" + img.Name
}

// short is a digest as people compare it.
func short(digest string) string {
	_, hex, found := strings.Cut(digest, ":")
	if !found {
		return "?"
	}
	return hex[:min(len(hex), shortDigest)]
}

// printable replaces what could break a line or a terminal: names and errors come from elsewhere.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || !unicode.IsPrint(c) && c != ' ' {
			return '?'
		}
		return c
	}, text)
}

// postponed is the word for a row whose registry asked for a pause.
const postponed = "postponed"

// summary counts rows, and the watchers that could not be asked.
type summary struct {
	images, updates, silent int
	// failed are all that could not be checked, postponed those of them that wait for a registry.
	failed, postponed int
	// kinds are the updates by the words of their rows, the largest step first.
	kinds []kindCount
}

type kindCount struct {
	kind string
	n    int
}

func summarise(rows []row, silent int) summary {
	s := summary{images: len(rows), silent: silent}
	for _, r := range rows {
		switch {
		case r.severity < upToDate:
			s.updates++
			i := slices.IndexFunc(s.kinds, func(k kindCount) bool { return k.kind == r.kind })
			if i < 0 {
				i, s.kinds = len(s.kinds), append(s.kinds, kindCount{kind: r.kind})
			}
			s.kinds[i].n++
		case r.severity == checkFailed:
			s.failed++
			if r.kind == postponed {
				s.postponed++
			}
		}
	}
	order := []string{sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffPrerelease, sdk.KindTag, sdk.KindDigest}
	slices.SortFunc(s.kinds, func(a, b kindCount) int { return slices.Index(order, a.kind) - slices.Index(order, b.kind) })
	return s
}

func (s summary) sentence(took time.Duration) string {
	text := fmt.Sprintf("Checked %s in %s: %s", count(s.images, "image"), brief(took), count(s.updates, "update"))
	if len(s.kinds) > 0 {
		var parts []string
		for _, k := range s.kinds {
			parts = append(parts, fmt.Sprintf("%d %s", k.n, k.kind))
		}
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	if n := s.failed - s.postponed; n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	if s.postponed > 0 {
		text += fmt.Sprintf(", %d postponed", s.postponed)
	}
	if s.silent > 0 {
		text += fmt.Sprintf(", %s could not be asked", count(s.silent, "watcher"))
	}
	return text
}

// nothingFound teaches what to do where there is nothing to check.
const nothingFound = "No containers were found: start one, set watchall to see stopped ones too, or name images, such as dogwatch check nginx:1.25"

// count writes "no updates", "1 update", "2 updates".
func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// brief writes a duration as people say it: 832 ms, 4.1 s, 2m3s.
func brief(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// style is how a table is written.
type style struct {
	width  int // 0: as wide as it needs to be
	colour bool
}

// styleOf returns what suits w: colours and the width of a terminal, or neither.
func styleOf(w io.Writer) style {
	width, is := terminal(w)
	return style{width: width, colour: is && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// colours are the SGR parameters (ECMA-48, section 8.3.117) of severities.
var colours = map[severity]string{
	majorUpdate: "31", minorUpdate: "33", patchUpdate: "34", otherUpdate: "34", digestUpdate: "34", upToDate: "32", checkFailed: "35",
}

func (s style) paint(text, sgr string) string {
	if !s.colour || sgr == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// fitting shortens what stands in each column.
var fitting = [4]func(text string, width int) string{clip, clipImage, clipUpdate, clip}

const (
	gap         = 2
	narrowest   = 10 // of a column that is cut
	shortDigest = 12
)

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
		line([4]string{r.name, r.image, r.update, r.kind}, colours[r.severity])
		for _, part := range wrap(r.note, s.width-2*gap) {
			b.WriteString(strings.Repeat(" ", 2*gap) + part + "\n")
		}
	}
	if len(rows) > 0 {
		b.WriteString("\n")
	}
	for _, part := range wrap(last, s.width) {
		b.WriteString(s.paint(part, "1") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
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
		b.WriteString(s.paint(clip(title, s.width-len(r.kind)-gap)+strings.Repeat(" ", gap)+r.kind, colours[r.severity]) + "\n")
		for i, text := range append(rest, wrap(r.note, s.width-2*gap)...) {
			if i < len(rest) {
				text = clipUpdate(text, s.width-2*gap)
			}
			b.WriteString(strings.Repeat(" ", 2*gap) + text + "\n")
		}
	}
	if len(rows) > 0 {
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
		for i, cell := range []string{r.name, r.image, shown(r.update), r.kind} {
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
		text := r.kind
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
