package words

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/language"
)

func TestMistake(t *testing.T) {
	german := language.New().Named("de")
	for text, want := range map[string]string{
		"": "",
		"local/web: there is no image to change to: nothing newer is known": `<span lang="en">local/web</span>: ` +
			"kein Image zum Zurücksetzen: nichts Neueres ist bekannt",
		"name: is required: say what the token is for": `<span lang="en">name</span>: ist erforderlich: ` +
			"schreiben Sie, wofür das Token ist",
		"watcher local: updating is not allowed, since its option update is false: set watcher.docker.local.update to true": `` +
			`<span lang="en">watcher local</span>: Updates sind nicht erlaubt, denn seine Option update ist false: ` +
			"setzen Sie watcher.docker.local.update auf true",
		"resolve nginx:1.27: dial tcp: broken pipe": `nginx:1.27 auflösen: <span lang="en">dial tcp: broken pipe</span>`,
		"topic: is required (Topic to publish to); a: b; it crashed 5 times in a row and is stopped; last error: it ended while starting " +
			"(exit code 7)": `<span lang="en">topic</span>: ist erforderlich (Topic, in dem veröffentlicht wird); ` +
			`<span lang="en">a: b</span>; 5 Abstürze in Folge, deshalb gestoppt; letzter Fehler: beim Start beendet (Exit-Code 7)`,
		"x: unknown setting (env X); remove it, or correct its name": `<span lang="en">x</span>: Einstellung unbekannt ` +
			"(Umgebungsvariable X); entfernen Sie sie, oder berichtigen Sie den Namen",
	} {
		said := Mistake(text)
		if text == "" {
			if said != nil {
				t.Errorf("no error became %q", said)
			}
			continue
		}
		if got := string(german.HTML(said)); got != want || said.String() != text {
			t.Errorf("%q, want %q; %q in English", got, want, said)
		}
	}
}

func TestRemedyOnAnotherHostInGerman(t *testing.T) {
	german := language.New().Named("de")
	said := Mistake("there, set watcher.docker.local.update to true")
	if got := german.Say(said); got != "dort: setzen Sie watcher.docker.local.update auf true" ||
		said.String() != "there, set watcher.docker.local.update to true" {
		t.Errorf("%q; %q in English", got, said)
	}
	if own := "there, look at it"; german.Say(Mistake(own)) != own {
		t.Error("what others say is changed")
	}
}
