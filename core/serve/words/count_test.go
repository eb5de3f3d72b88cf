package words

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
)

// TestUpdates: held updates are some of the updates, whose number is that of tiles, chips and badges.
func TestUpdates(t *testing.T) {
	for want, counts := range map[string]tally.Counts{
		"": {}, "1 update": {Updates: 1}, "12 updates (2 held)": {Updates: 12, Held: 2}, "1 update (1 held)": {Updates: 1, Held: 1},
	} {
		if got := phrase.English(Updates(counts)); got != want {
			t.Errorf("%+v: %q, want %q", counts, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "", 0: "", 1: "1 byte", 999: "999 bytes", 1500: "1.5 kB", 999_960: "1.0 MB", 71_000_000: "71.0 MB",
		1 << 40: "1.1 TB", 1 << 60: "1152921.5 TB",
	} {
		if got := phrase.English(Bytes(n)); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
