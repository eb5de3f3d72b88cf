package phrase

import (
	"testing"
	"time"
)

func TestCount(t *testing.T) {
	for want, got := range map[string]Phrase{
		"1 try": Count(1, "try"), "2 tries": Count(2, "try"), "no updates": Count(0, "update"), "2 days": Count(2, "day"),
		"no tries": Count(0, "try"),
	} {
		if got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEnglish(t *testing.T) {
	for want, p := range map[string]Phrase{
		"": nil, "100% sure": New("%d%% sure", 100), "plain": New("plain"), "a (b)": New("%s (%s)", Verbatim("a"), New("b")),
		"3 Feb": Time("2 Jan", time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)),
	} {
		if got := English(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCapitalLeavesVersions(t *testing.T) {
	for text, want := range map[string]string{
		"it is held": "It is held", "v3.0.0 is held": "v3.0.0 is held", "élan": "Élan", "": "",
	} {
		if got := Capital(Verbatim(text)); got != nil && got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
