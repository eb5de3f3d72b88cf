package words

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/language"
)

// TestIsolatedInGerman: what a plugin is kept from, may use and is not kept from, as the program says it.
func TestIsolatedInGerman(t *testing.T) {
	german := language.New().Named("de")
	for text, want := range map[string]string{
		"files (Landlock, version 7)":                       "Dateien (Landlock, Version 7)",
		"user 2119703311":                                   "Benutzer 2119703311",
		"256 processes":                                     "256 Prozesse",
		"256 processes and threads":                         "256 Prozesse und Threads",
		"64 MB of temporary files":                          "64\u00a0MB an temporären Dateien",
		"memory 256 MB":                                     "Speicher 256\u00a0MB",
		"memory: its control group lacks memory, pids, cpu": "Speicher: seiner Kontrollgruppe fehlt memory, pids, cpu",
		"files: not available: kernel without Landlock":     "Dateien: nicht verfügbar: Kernel ohne Landlock",
		"anything else, since plugins.isolated is false":    "alles andere, da plugins.isolated false ist",
		"rights of root: operation not permitted":           "Rechte von root: operation not permitted",
	} {
		if got := german.Say(Isolated(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if got := Isolated(text).String(); got != text {
			t.Errorf("%q is %q in English", text, got)
		}
	}
}
