package page

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/language"
)

// TestScriptWords: every text that the script has said is translated, and none in vain.
func TestScriptWords(t *testing.T) {
	script, err := os.ReadFile("static/app.js")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{"change": true, "changes": true, "new": true, "or more new": true} // by a variable
	for _, call := range regexp.MustCompile(`\bsay\(([^)]*)\)`).FindAllStringSubmatch(string(script), -1) {
		for _, text := range regexp.MustCompile(`'([^']*)'`).FindAllStringSubmatch(call[1], -1) {
			said[text[1]] = true
		}
	}
	languages := language.New()
	data, err := scriptWords(languages.Named("de"))
	if err != nil {
		t.Fatal(err)
	}
	var words map[string]string
	if err := json.Unmarshal([]byte(data), &words); err != nil {
		t.Fatal(err)
	}
	for text := range said {
		if words[text] == "" {
			t.Errorf("%q is not translated", text)
		}
	}
	if len(words) != len(said) || words["Copied"] != "Kopiert" {
		t.Errorf("the script says %v, and there are %v", said, words)
	}
	if data, err := scriptWords(languages.Named(language.English)); data != "" || err != nil {
		t.Errorf("English has %q, %v", data, err)
	}
}
