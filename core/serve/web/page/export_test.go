package page

import (
	"html/template"

	"github.com/dogwatch/dogwatch/core/serve/language"
)

// Texts returns what users read of the templates, and the phrases that these name, by the names of the pages.
func (s *Site) Texts() (map[string][]string, error) {
	all, err := s.parse(s.Languages.Named(language.English))
	texts := map[string][]string{}
	for name, page := range all {
		note := func(english string) string {
			texts[name] = append(texts[name], english)
			return english
		}
		(&translation{say: note, literal: func(function, english string) {
			switch function {
			case "phrase":
				note(english)
			case "plural":
				note("%d " + english)
			}
		}}).template(page)
	}
	return texts, err
}

// Translated returns the text of a template in another language, as it says its texts.
func Translated(text string, say func(string) string) string {
	return (&translation{say: say}).text(text)
}

// Saying returns a template as it is in another language.
func Saying(text string) (string, error) {
	same := func(v any) any { return v }
	t, err := template.New("").Funcs(template.FuncMap{sayFunction: same, sayHTMLFunction: same}).Parse(text)
	if err != nil {
		return "", err
	}
	(&translation{say: func(english string) string { return english }}).template(t)
	return t.Tree.Root.String(), nil
}
