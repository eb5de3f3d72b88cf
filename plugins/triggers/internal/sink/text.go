package sink

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// UTF16 returns how many code units a text has, which is what many services count.
func UTF16(text string) int { return len(utf16.Encode([]rune(text))) }

// Cut is what becomes of the body of a message.
type Cut struct{ Body, Want string }

// Cuts compares what text makes of bodies.
func Cuts(t *testing.T, text func(body string) string, cuts map[string]Cut) {
	t.Helper()
	for name, cut := range cuts {
		if got := text(cut.Body); got != cut.Want {
			t.Errorf("%s: %d characters, ends with %q, want %d", name, len([]rune(got)), got[max(0, len(got)-10):],
				len([]rune(cut.Want)))
		}
	}
}

// FuzzText looks for a request of which text makes one that is empty, or has
// more than most units.
func FuzzText(f *testing.F, most int, units func(string) int, text func(trigger.Request) string) {
	f.Helper()
	f.Add("title", "body")
	f.Fuzz(func(t *testing.T, title, body string) {
		got := text(trigger.Request{Title: title, Body: body})
		if n := units(got); n > most || strings.TrimSpace(got) == "" {
			t.Errorf("%d units", n)
		}
	})
}
