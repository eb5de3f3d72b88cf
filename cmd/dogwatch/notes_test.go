package main

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/notes"
)

// TestNotesWarningsAreText: what a release warns of is shown without the markup of its Markdown.
func TestNotesWarningsAreText(t *testing.T) {
	var b strings.Builder
	err := writeNotes(&b, style{}, notes.Notes{Notes: []notes.Note{{
		Version: "2.0", URL: "https://git.example/a", Body: "- **Gone**: `/api/v1`",
		Breaking: []string{"**Gone**: `/api/v1`, [see here](https://git.example/b)\x1b[31m"},
		Action:   []string{"You _must_ run `migrate` <b>once</b>"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"breaking: Gone: /api/v1, see here[31m\n", "to do: You must run migrate once\n",
		"- **Gone**: `/api/v1`\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %q", want, b.String())
		}
	}
}
