package words

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/watch/check"
)

func TestChecked(t *testing.T) {
	for want, all := range map[string][]check.Progress{
		"":                  {{Watcher: "local"}},
		"0 of 1 container":  {{Total: 1}},
		"1 container":       {{Checked: 1, Total: 1}},
		"5 of 6 containers": {{Checked: 3, Total: 3}, {Checked: 2, Total: 3}},
	} {
		if got := phrase.English(Checked(all...)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
