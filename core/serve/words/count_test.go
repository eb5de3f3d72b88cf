package words

import (
	"testing"
)

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"1 try": Plural(1, "try"), "2 tries": Plural(2, "try"), "0 updates": Plural(0, "update"), "2 days": Plural(2, "day"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
