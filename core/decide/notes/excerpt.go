package notes

import (
	"context"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// maxExcerpt is how long an excerpt is, in characters: most chats take about 4000 for a
	// message, and what more a service does not take it cuts itself.
	maxExcerpt = 2000
	// excerptNotes is how many releases have their text in an excerpt.
	excerptNotes = 3
)

// Excerpts returns what makes an excerpt of the notes of a container, as of returns them, for a message. What it needs
// is made when the first message wants one.
func Excerpts(
	notesOf func(ctx context.Context, c *sdk.Container) Notes,
) func(ctx context.Context, c *sdk.Container) string {
	renderer := sync.OnceValue(NewRenderer)
	return func(ctx context.Context, c *sdk.Container) string { return renderer().Excerpt(notesOf(ctx, c)) }
}

// Excerpt returns notes as plain text for a message, "" when there are none: what they warn of, of
// all releases, and then the text of the newest. It is cut to 2000 characters.
func (r *Renderer) Excerpt(n Notes) string {
	var b strings.Builder
	for _, kind := range []struct {
		word  string
		lines func(Note) []string
	}{{"Breaking", func(n Note) []string { return n.Breaking }}, {"To do", func(n Note) []string { return n.Action }}} {
		for _, note := range n.Notes {
			for _, line := range kind.lines(note) {
				b.WriteString(kind.word + " (" + note.Version + "): " + r.Plain(line) + "\n")
			}
		}
	}
	for i, note := range n.Notes {
		if i == excerptNotes || b.Len() > maxExcerpt*utf8.UTFMax {
			break
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(note.Version)
		if !note.Date.IsZero() {
			b.WriteString(" (" + note.Date.UTC().Format("2 Jan 2006") + ")")
		}
		b.WriteString("\n" + r.Plain(note.Body) + "\n")
	}
	return shorten(strings.TrimSpace(b.String()))
}

// shorten cuts a text to maxExcerpt characters, at the end of a line if one is near.
func shorten(excerpt string) string {
	if utf8.RuneCountInString(excerpt) <= maxExcerpt {
		return excerpt
	}
	short := string([]rune(excerpt)[:maxExcerpt-2])
	if end := strings.LastIndexByte(short, '\n'); end > len(short)*3/4 {
		short = short[:end]
	}
	return strings.TrimSpace(short) + "\n…"
}

// Plain returns the text of Markdown: a line for each paragraph, heading and item, without
// markup, images, addresses and HTML.
func (r *Renderer) Plain(markdown string) string {
	source := []byte(markdown)
	var b strings.Builder
	newLine := func() {
		if b.Len() > 0 && !strings.HasSuffix(b.String()[b.Len()-1:], "\n") {
			b.WriteString("\n")
		}
	}
	_ = ast.Walk(r.markdown.Parser().Parse(text.NewReader(source)),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				if n.Type() == ast.TypeBlock {
					newLine()
				}
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.HTMLBlock, *ast.RawHTML, *ast.Image, *ast.ThematicBreak:
				return ast.WalkSkipChildren, nil
			case *ast.ListItem:
				newLine()
				b.WriteString("- ")
			case *ast.FencedCodeBlock, *ast.CodeBlock:
				newLine()
				for i := range n.Lines().Len() {
					line := n.Lines().At(i)
					b.Write(line.Value(source))
				}
				return ast.WalkSkipChildren, nil
			case *ast.AutoLink:
				b.Write(n.Label(source))
			case *ast.Text:
				b.Write(n.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteString(" ")
				}
			case *ast.String:
				b.Write(n.Value)
			}
			return ast.WalkContinue, nil
		})
	// What is written as an entity, as &#x202e;, stands here as itself.
	return strings.ReplaceAll(visible.Text(strings.ToValidUTF8(strings.TrimSpace(b.String()), "")), "\t", " ")
}
