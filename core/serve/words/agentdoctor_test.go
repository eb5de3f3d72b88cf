package words

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/language"
)

// TestAgentDoctorInGerman: what was found on the way to an agent, as package agent writes it.
func TestAgentDoctorInGerman(t *testing.T) {
	german := language.New().Named("de")
	for text, want := range map[string]string{
		"nas has joined 2026-11-28, with a token of ana":     "nas ist am 2026-11-28 mit einem Token von ana beigetreten",
		"from 192.0.2.1 since 2026-11-28, of Dogwatch 1.2.3": "von 192.0.2.1 seit 2026-11-28, Dogwatch 1.2.3",
		"its owner allows no updates: --read-only; the logs of containers may be read": "sein Betreiber erlaubt keine Updates: " +
			"--read-only; die Logs der Container dürfen gelesen werden",
		"its owner allows updates of these stacks only: media, web; the commands of hook labels do not run": "sein Betreiber " +
			"erlaubt nur Updates dieser Stacks: media, web; die Befehle der Hook-Labels laufen nicht",
		"dial tcp: refused": "dial tcp: refused",
	} {
		if got := german.Say(AgentDoctor(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if got := AgentDoctor(text).String(); got != text {
			t.Errorf("%q is %q in English", text, got)
		}
	}
	for text, said := range map[string]string{
		"certificate": german.Say(AgentDoctor("certificate")),
		"correct public.url, or the name in the DNS": german.Say(AgentDoctor("correct public.url, or the name in the DNS")),
	} {
		if said == text {
			t.Errorf("no German for %q", text)
		}
	}
}
