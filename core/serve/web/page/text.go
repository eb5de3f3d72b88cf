package page

import (
	"html/template"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// Ago is how long ago or ahead a time is in a language, as HTML with the exact time on hover.
func (s *Site) Ago(in *language.Language, at any) template.HTML {
	t := words.Instant(at)
	if t.IsZero() {
		return template.HTML(in.Text("not yet"))
	}
	return timeHTML(t, in.Say(words.Relative(s.Now().Sub(t))))
}

// described returns the description of a setting, an option or a type in a language. That of a third party's plugin has
// no translation, and is marked as English.
func described(in *language.Language, text string) template.HTML {
	said := in.Text(text)
	marked := template.HTMLEscapeString(said)
	if said == in.Say(phrase.Verbatim(text)) && in.Translates() {
		marked = `<span lang="en">` + marked + `</span>`
	}
	return template.HTML(marked)
}

// commands returns a text of ours as HTML, with what stands between backticks as code.
func commands(text string) template.HTML {
	marked := template.HTMLEscapeString(text)
	for strings.Count(marked, "`") > 1 {
		marked = strings.Replace(strings.Replace(marked, "`", "<code>", 1), "`", "</code>", 1)
	}
	return template.HTML(marked)
}

// timeHTML returns a time as HTML with the exact time on hover. Its text is digits and words of ours.
func timeHTML(t time.Time, text string) template.HTML {
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `" title="` + words.Exact(t) + `">` +
		text + `</time>`)
}

// PlainLines returns the text of lines of Markdown.
func (s *Site) PlainLines(lines []string) (plain []string) {
	for _, line := range lines {
		plain = append(plain, s.Markdown().Plain(line))
	}
	return plain
}
