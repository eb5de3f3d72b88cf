// Package language translates what pages say. Texts are English where they are made; a catalogue has each of them in
// another language, by its English text.
package language

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Cookie holds the language that a user chose; without one, browsers say what their users read.
const Cookie = "dogwatch-language"

// English is the language of everything that has no translation.
const English = "en"

// german has the German texts, in a file for each area of the pages.
//
//go:embed german/*.json
var german embed.FS

// Languages are those that pages can be read in. Its methods may be called concurrently.
type Languages struct {
	all     []*Language
	matcher language.Matcher
}

// Language is one that pages can be read in.
type Language struct {
	// Tag is its BCP 47 tag: "de"; Name is what its speakers call it.
	Tag, Name string
	files     fs.FS // its catalogue; nil for English
	load      func() (*catalogue, error)
}

// New returns the languages there are, English first. Catalogues are read at their first use.
func New() *Languages {
	l := &Languages{all: []*Language{
		{Tag: English, Name: "English"},
		{Tag: "de", Name: "Deutsch", files: german, load: sync.OnceValues(func() (*catalogue, error) {
			return load(language.German, german)
		})},
	}}
	tags := make([]language.Tag, len(l.all))
	for i, known := range l.all {
		tags[i] = language.Make(known.Tag)
	}
	l.matcher = language.NewMatcher(tags)
	return l
}

// All returns the languages, English first.
func (l *Languages) All() []*Language { return l.all }

// Of returns the language of a request: the one its user chose, else the first that its browser asks for and that
// there is (RFC 9110, 12.5.4), else English.
func (l *Languages) Of(r *http.Request) *Language {
	if chosen := l.Chosen(r); chosen != nil {
		return chosen
	}
	accepted, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil || len(accepted) == 0 {
		return l.all[0]
	}
	_, i, _ := l.matcher.Match(accepted...)
	return l.all[i]
}

// Chosen returns the language that the user of a request chose; nil for that of the browser.
func (l *Languages) Chosen(r *http.Request) *Language {
	if c, err := r.Cookie(Cookie); err == nil {
		return l.Named(c.Value)
	}
	return nil
}

// Named returns the language with a tag; nil when there is none.
func (l *Languages) Named(tag string) *Language {
	for _, known := range l.all {
		if known.Tag == tag {
			return known
		}
	}
	return nil
}

// Keys returns the English texts that the language has a translation of, by the files of its catalogue.
func (l *Language) Keys() (map[string][]string, error) {
	if l.files == nil {
		return nil, nil
	}
	areas, err := read(l.files)
	keys := map[string][]string{}
	for name, area := range areas {
		keys[name] = slices.Sorted(maps.Keys(area))
	}
	return keys, err
}

// Translates reports whether texts have to be translated: not into English.
func (l *Language) Translates() bool { return l.load != nil }

// figure is a number with its unit.
var figure = regexp.MustCompile(`(\d) (bytes?|[kMGT]B|ms|s|min|h|d)\b`)

// unbroken keeps numbers and their units on one line.
func unbroken(text string) string { return figure.ReplaceAllString(text, "$1\u00a0$2") }

// Say returns a phrase in the language, with its figures unbroken; "" for none.
func (l *Language) Say(p phrase.Phrase) string {
	if p == nil {
		return ""
	}
	if l.load != nil {
		if printer, err := l.load(); err == nil {
			return unbroken(p.In(plain{printer}))
		}
	}
	return unbroken(p.String())
}

// HTML returns a phrase in the language as HTML, with its figures unbroken, where what others wrote is marked as
// English (WCAG 2.2, 3.1.2).
func (l *Language) HTML(p phrase.Phrase) template.HTML {
	if p != nil && l.load != nil {
		if printer, err := l.load(); err == nil {
			return markedHTML(unbroken(p.In(marking{printer})))
		}
	}
	return template.HTML(template.HTMLEscapeString(unbroken(phrase.English(p))))
}

// plain leaves what others wrote unmarked.
type plain struct{ *catalogue }

// Quote returns the text.
func (plain) Quote(english string) string { return english }

// marking marks what others wrote.
type marking struct{ *catalogue }

// Quote returns the text between marks.
func (marking) Quote(english string) string { return phrase.QuoteBegin + english + phrase.QuoteEnd }

// markedHTML returns a text as HTML with elements in the place of marks. Marks of others cannot leave one open.
func markedHTML(text string) template.HTML {
	var b strings.Builder
	for {
		before, rest, quotes := strings.Cut(text, phrase.QuoteBegin)
		template.HTMLEscape(&b, []byte(before))
		if !quotes {
			return template.HTML(b.String())
		}
		quoted, after, _ := strings.Cut(rest, phrase.QuoteEnd)
		b.WriteString(`<span lang="en">`)
		template.HTMLEscape(&b, []byte(quoted))
		b.WriteString(`</span>`)
		text = after
	}
}

// Text returns a text without verbs in the language.
func (l *Language) Text(english string) string {
	return l.Say(phrase.New(strings.ReplaceAll(english, "%", "%%")))
}

// catalogue is a language that was read: its printer, and the formats of each file, each before those that are less
// specific.
type catalogue struct {
	*message.Printer
	formats map[string][]string
}

// Formats implements phrase.Printer.
func (c *catalogue) Formats(kind string) []string { return c.formats[kind+".json"] }

// load makes a catalogue: translations by their English text, and those of numbers with a noun by the forms that CLDR
// names for plurals ("one", "other"), or "=0".
func load(tag language.Tag, files fs.FS) (*catalogue, error) {
	areas, err := read(files)
	if err != nil {
		return nil, fmt.Errorf("catalogue of the language %s: %w", tag, err)
	}
	entries := catalog.NewBuilder(catalog.Fallback(language.English))
	formats := map[string][]string{}
	for name, translations := range areas {
		formats[path.Base(name)] = slices.SortedFunc(maps.Keys(translations), func(a, b string) int {
			return cmp.Or(literal(b)-literal(a), strings.Compare(a, b))
		})
		for english, t := range translations {
			if err := entries.Set(tag, english, t.message()); err != nil {
				return nil, fmt.Errorf("catalogue of the language %s: %q: %w", tag, english, err)
			}
		}
	}
	return &catalogue{message.NewPrinter(tag, message.Catalog(entries)), formats}, nil
}

// literal is how much of a format is no verb.
func literal(format string) int { return len(format) - strings.Count(format, "%s")*len("%s") }

// translation is the text of a phrase, or its plural forms.
type translation struct {
	text  string
	forms map[string]string
}

func (t *translation) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		return json.Unmarshal(data, &t.forms)
	}
	return json.Unmarshal(data, &t.text)
}

func (t *translation) message() catalog.Message {
	if t.forms == nil {
		return catalog.String(t.text)
	}
	var forms []any
	for _, form := range []string{"=0", "one", "other"} {
		if text, has := t.forms[form]; has {
			forms = append(forms, form, text)
		}
	}
	return plural.Selectf(1, "%d", forms...)
}

// read returns the translations by the name of their file.
func read(files fs.FS) (map[string]map[string]translation, error) {
	names, err := fs.Glob(files, "*/*.json")
	if err != nil {
		return nil, err
	}
	areas := map[string]map[string]translation{}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		var area map[string]translation
		if err := json.Unmarshal(data, &area); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		areas[name] = area
	}
	return areas, nil
}
