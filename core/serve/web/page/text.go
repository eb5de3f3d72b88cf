package page

import (
	"html/template"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/words"
)

// Ago is how long ago or ahead a time is, as HTML with the exact time on hover.
func (s *Site) Ago(at any) template.HTML {
	t := words.Instant(at)
	if t.IsZero() {
		return "not yet"
	}
	// All that goes in is digits and words of ours.
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `" title="` + words.Exact(t) + `">` +
		words.Relative(s.Now().Sub(t)) + `</time>`)
}

// day is a date, as HTML with the exact time on hover.
func day(at time.Time) template.HTML {
	// All that goes in is digits and names of months.
	return template.HTML(`<time datetime="` + at.UTC().Format(time.RFC3339) + `" title="` + words.Exact(at) + `">` +
		at.UTC().Format("2 Jan 2006") + `</time>`)
}

// PlainLines returns the text of lines of Markdown.
func (s *Site) PlainLines(lines []string) (plain []string) {
	for _, line := range lines {
		plain = append(plain, s.Markdown().Plain(line))
	}
	return plain
}
