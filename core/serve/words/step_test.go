package words

import (
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestTaken(t *testing.T) {
	german := language.New().Named("de")
	for text, want := range map[string]string{
		"pull nginx:1.27": "nginx:1.27 laden", "stop the old web": "den alten Container web stoppen",
		"stop app, which depends on web":                         "app stoppen, abhängig von web",
		"write web:2 instead of web:1 into /srv/compose.yaml":    "web:2 statt web:1 in /srv/compose.yaml schreiben",
		"keep the old web stopped, and remove all but 2 of them": "den alten Container web gestoppt behalten und alle bis auf 2 entfernen",
		"wait until web responds at http://a/":                   "warten, bis web unter http://a/ antwortet",
		// What has none of the forms is another plugin's.
		"stop the old ": "stop the old ", "dance": "dance", "wait until web responds at ": "wait until web responds at ",
	} {
		said := Taken(watcher.Step{Text: text})
		if got := german.Say(said); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if said.String() != text {
			t.Errorf("%q is %q in English", text, said)
		}
	}
}

func TestStepsNameContainersAsUsersDo(t *testing.T) {
	c := &sdk.Container{Name: "cloud", DisplayName: "Nextcloud"}
	for text, want := range map[string]string{
		"stop the old cloud": "stop the old Nextcloud", "pull cloud:29": "pull cloud:29", "greet cloud": "greet cloud",
	} {
		if got := Steps([]watcher.Step{{Text: text}}, c)[0].String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestStepTextsAreTranslated looks for the formats, which are no literals where phrases are made of them.
func TestStepTextsAreTranslated(t *testing.T) {
	areas, err := language.New().Named("de").Keys()
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range stepTexts() {
		has := false
		for _, keys := range areas {
			has = has || slices.Contains(keys, format)
		}
		if !has || strings.Count(format, "%") != strings.Count(format, "%s") {
			t.Errorf("%q has no translation, or another verb than %%s", format)
		}
	}
}
