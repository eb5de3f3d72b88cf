package page

import "github.com/dogwatch/dogwatch/core/serve/language"

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
