package page

import (
	"encoding/json"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/language"
)

// scriptWords returns what app.js says in a language, as a JSON object by the English texts; "" for English.
func scriptWords(in *language.Language) (string, error) {
	if !in.Translates() {
		return "", nil
	}
	said := map[string]string{}
	for _, one := range []phrase.Phrase{
		phrase.New("selected"), phrase.New("Copy"), phrase.New("Copied"), phrase.New("Select and copy it"),
		phrase.New("Copying is not allowed here"), phrase.New("Run {}? It may change what runs."),
		phrase.New("change"), phrase.New("changes"), phrase.New("new"), phrase.New("or more new"), phrase.New("up to date"),
	} {
		said[one.String()] = in.Say(one)
	}
	data, err := json.Marshal(said)
	return string(data), err
}
