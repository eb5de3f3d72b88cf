package update

import (
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
)

func TestFlapsWhileChecksFail(t *testing.T) {
	// Each letter is a check, at this time after the one before it: u is one that failed.
	for _, c := range []struct {
		checks string
		every  time.Duration
		want   bool
	}{
		{"", time.Second, false},
		{"h", time.Second, false},
		{"hhhhh", time.Second, false},
		{"huh", 800 * time.Millisecond, true},
		{"uhuhu", 800 * time.Millisecond, true},
		{"uuh", 500 * time.Millisecond, true},
		{"uhhhh", 500 * time.Millisecond, false},
		{"huh", 30 * time.Second, false},
		{"hhu", 30 * time.Second, true},
	} {
		var log []*container.HealthcheckResult
		for i, check := range c.checks {
			r := &container.HealthcheckResult{End: time.Unix(0, 0).Add(time.Duration(i) * c.every)}
			if check == 'u' {
				r.ExitCode = 1
			}
			log = append(log, r)
		}
		if got := flaps(log); got != c.want {
			t.Errorf("flaps(%s every %s) = %t", c.checks, c.every, got)
		}
	}
}
