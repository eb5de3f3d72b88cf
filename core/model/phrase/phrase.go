// Package phrase has texts of the program that are put into the reader's language where they are shown. Whoever
// makes one writes English; the API, logs and the command line show that.
package phrase

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/message"
)

// Phrase is a text in every language. nil is none.
type Phrase interface {
	// String returns it in English.
	fmt.Stringer
	// In returns it in the language of a printer, and in English where that has no translation.
	In(p Printer) string
}

// Printer writes texts in a language; a message.Printer of its catalogue has Sprintf.
type Printer interface {
	// Sprintf returns the text of a format, or of a message.Key, in the language.
	Sprintf(english message.Reference, args ...any) string
	// Quote returns what others wrote as it stands within texts of the language.
	Quote(english string) string
	// Formats returns the English formats of a kind of texts that are stored, each before those that are less specific.
	Formats(kind string) []string
}

// New returns a phrase by its English format, which is the key of its translation, as fmt.Sprintf takes it.
// Arguments that are phrases are translated, too; nil is "".
func New(english string, args ...any) Phrase {
	for i, arg := range args {
		if arg == nil {
			args[i] = ""
		}
	}
	return &format{english, args}
}

type format struct {
	english string
	args    []any
}

func (f *format) String() string {
	if !strings.Contains(f.english, "%") {
		return f.english
	}
	return fmt.Sprintf(f.english, f.args...)
}

func (f *format) In(p Printer) string {
	args := slices.Clone(f.args)
	for i, arg := range args {
		if inner, is := arg.(Phrase); is {
			args[i] = inner.In(p)
		}
	}
	return p.Sprintf(f.english, args...)
}

// English returns a phrase in English; "" for nil.
func English(p Phrase) string {
	if p == nil {
		return ""
	}
	return p.String()
}

// Time returns a time in a layout of package time, such as "2 Jan 15:04", which is the key of the layout that another
// language has in its place.
func Time(layout string, t time.Time) Phrase { return moment{layout, t} }

type moment struct {
	layout string
	at     time.Time
}

func (m moment) String() string      { return m.at.Format(m.layout) }
func (m moment) In(p Printer) string { return m.at.Format(p.Sprintf(m.layout)) }

// Verbatim returns a text that is the same in every language: a name, a version.
func Verbatim(text string) Phrase {
	if text == "" {
		return nil
	}
	return verbatim(text)
}

type verbatim string

func (v verbatim) String() string    { return string(v) }
func (v verbatim) In(Printer) string { return string(v) }

// Quote returns what others wrote, which has no translation: an error, the title of a message. Pages in another
// language mark it as English.
func Quote(text string) Phrase {
	if text == "" {
		return nil
	}
	return quote(text)
}

// QuoteBegin and QuoteEnd are what a Printer may set around a quote: noncharacters, which no text has in it that is
// exchanged (Unicode, 23.7), and which stay where hidden characters are dropped.
const QuoteBegin, QuoteEnd = "\ufdd0", "\ufdd1"

type quote string

func (q quote) String() string      { return string(q) }
func (q quote) In(p Printer) string { return p.Quote(string(q)) }

// Translated returns a text that was stored in English, and what other languages say in its place.
func Translated(english string, elsewhere Phrase) Phrase { return &translated{english, elsewhere} }

type translated struct {
	english   string
	elsewhere Phrase
}

func (t *translated) String() string      { return t.english }
func (t *translated) In(p Printer) string { return t.elsewhere.In(p) }

// Count returns a number with its noun: "no updates", "1 update", "3 updates". The key of its translation is the noun
// behind "%d ".
func Count(n int, noun string) Phrase { return &count{n, noun} }

type count struct {
	n    int
	noun string
}

func (c *count) In(p Printer) string {
	return p.Sprintf(message.Key("%d "+c.noun, c.String()), c.n)
}

func (c *count) String() string {
	number, noun, ending := fmt.Sprint(c.n), c.noun, "s"
	switch stem, y := strings.CutSuffix(noun, "y"); {
	case c.n == 1:
		ending = ""
	case y && !strings.ContainsAny(stem[len(stem)-1:], "aeou"):
		noun, ending = stem, "ies"
	}
	if c.n == 0 {
		number = "no"
	}
	return number + " " + noun + ending
}

// Join returns phrases with a separator between them; those that are nil are left out, and so is a phrase of none.
func Join(separator string, parts ...Phrase) Phrase {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p Phrase) bool { return p == nil })
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return &joined{separator, parts}
}

type joined struct {
	separator string
	parts     []Phrase
}

func (j *joined) String() string { return j.said(Phrase.String) }

func (j *joined) In(p Printer) string {
	return j.said(func(part Phrase) string { return part.In(p) })
}

func (j *joined) said(in func(Phrase) string) string {
	texts := make([]string, len(j.parts))
	for i, part := range j.parts {
		texts[i] = in(part)
	}
	return strings.Join(texts, j.separator)
}

// Capital returns a phrase with an upper-case first letter, unless it begins with a version: "v3.0.0 is held".
func Capital(p Phrase) Phrase { return Change(p, capital) }

// Sentence returns a phrase with a full stop at its end, if it has none.
func Sentence(p Phrase) Phrase { return Change(p, stopped) }

// Change returns a phrase whose text is changed in every language, such as one without secrets; nil for nil.
func Change(p Phrase, by func(string) string) Phrase {
	switch p := p.(type) {
	case nil:
		return nil
	case quote:
		return Quote(by(string(p)))
	}
	return &change{p, by}
}

type change struct {
	phrase Phrase
	by     func(string) string
}

func (c *change) String() string      { return c.by(c.phrase.String()) }
func (c *change) In(p Printer) string { return c.by(c.phrase.In(p)) }

func capital(text string) string {
	if quoted, is := strings.CutPrefix(text, QuoteBegin); is {
		return QuoteBegin + capital(quoted)
	}
	first, size := utf8.DecodeRuneInString(text)
	word, _, _ := strings.Cut(text, " ")
	if strings.ContainsAny(word, "0123456789") { // a version, which has no capital
		return text
	}
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

func stopped(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasSuffix(strings.TrimSuffix(text, QuoteEnd), ".") {
		return text
	}
	return text + "."
}
