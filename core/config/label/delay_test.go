package label

import "testing"

// TestDelayOfWUD reads the labels of What's Up Docker 9 for the minimum age.
func TestDelayOfWUD(t *testing.T) {
	for _, c := range []struct {
		labels      map[string]string
		value, from string
	}{
		{map[string]string{"wud.watch.delay": "3d"}, "3d", "wud.watch.delay"},
		{map[string]string{"wud.tag.delay": "24h"}, "24h", "wud.tag.delay"},
		{map[string]string{"wud.watch.delay": " ", "wud.tag.delay": "1d"}, "1d", "wud.tag.delay"},
		{map[string]string{"wud.watch.delay": "3d", "dogwatch.update.minage": "7d"}, "7d", "dogwatch.update.minage"},
		{map[string]string{"wud.watch.delay": "3d", "com.centurylinklabs.watchtower.cooldown-delay": "2d"}, "3d",
			"wud.watch.delay"},
	} {
		r := read(c.labels, true, false)
		if got, _ := r.Get(UpdateMinAge); got.Value != c.value || got.Label != c.from || len(r.Unknown) > 0 {
			t.Errorf("%v: got %+v, unknown %v", c.labels, got, r.Unknown)
		}
	}
	if r := read(map[string]string{"dogwatch.watch.delay": "3d"}, false, false); len(r.Unknown) != 1 {
		t.Errorf("ours has no such label: %v", r.Unknown)
	}
}
