package dockertest

import "testing"

// TestMomentsAreAllChosenInTurn: one offset or another, as one day or another, chooses each, and all of them are chosen
// where that is wanted.
func TestMomentsAreAllChosenInTurn(t *testing.T) {
	for _, c := range []struct {
		kills string
		want  int
	}{{"", 1}, {"1", 3}} {
		t.Setenv("DOGWATCH_TEST_KILLS", c.kills)
		for n := range 20 {
			times := 0
			for offset := range 3 {
				if Moments(t, 3, offset)(n) {
					times++
				}
			}
			if times != c.want {
				t.Errorf("kills %q: moment %d is chosen %d times, want %d", c.kills, n, times, c.want)
			}
		}
	}
}
