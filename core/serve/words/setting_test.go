package words

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/language"
)

func TestSetting(t *testing.T) {
	german := language.New().Named("de")
	for name, want := range map[string][2]string{
		"env BUILD":         {"environment variable BUILD", "Umgebungsvariable BUILD"},
		"bind /data":        {"mounted folder /data", "eingebundener Ordner /data"},
		"working directory": {"working directory", "Arbeitsverzeichnis"},
		"of a plugin":       {"of a plugin", "of a plugin"},
	} {
		said := Setting(name)
		if got := [2]string{said.String(), german.Say(said)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestSettingSource(t *testing.T) {
	german := language.New().Named("de")
	for source, want := range map[string][2]string{
		"env TZ":               {"environment variable TZ", "Umgebungsvariable TZ"},
		"env TZ, not accepted": {"environment variable TZ, not accepted", "Umgebungsvariable TZ, Wert ungültig"},
		"/a.yaml:3":            {"/a.yaml:3", "/a.yaml:3"},
	} {
		said := SettingSource(source)
		if got := [2]string{said.String(), german.Say(said)}; got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}
