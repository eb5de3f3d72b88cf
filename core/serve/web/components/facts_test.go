package components

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// TestTriggerListSaysItsThreshold: in words, with rebuilds where they are left out.
func TestTriggerListSaysItsThreshold(t *testing.T) {
	for _, c := range []struct {
		threshold  string
		noRebuilds bool
		want       string
	}{
		{"all", false, ""}, {"all", true, "no rebuilds"}, {"versions", false, "no rebuilds"},
		{"minor", false, "up to minor"},
		{"minor", true, "up to minor, no rebuilds"},
		{"patch-no-digest", false, "up to patch, no rebuilds"}, {"digest", false, "rebuilds only"},
		{"major-only", false, "major only"}, {"minor-only-no-digest", false, "minor only, no rebuilds"},
	} {
		if got := phrase.English(takes(c.threshold, c.noRebuilds)); got != c.want {
			t.Errorf("%s, no rebuilds %t: %q, want %q", c.threshold, c.noRebuilds, got, c.want)
		}
	}
}
