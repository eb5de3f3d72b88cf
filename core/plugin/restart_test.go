package plugin

import (
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	var b backoff
	crash := func(after time.Duration) (time.Duration, bool) {
		at = at.Add(after)
		return b.next(processExit{at: at})
	}
	for n, limit := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		wait, again := crash(time.Minute)
		if !again || wait < limit/2 || wait > limit {
			t.Fatalf("crash %d: wait %s, again %v; want %s to %s", n+1, wait, again, limit/2, limit)
		}
	}
	if _, again := crash(time.Minute); again {
		t.Fatal("five crashes in a row are not broken")
	}
	b.reset()
	crash(0)
	if wait, _ := crash(resetAfter + time.Second); wait > firstBackoff {
		t.Fatalf("after a quiet time the wait is %s", wait)
	}
	for name, c := range map[string]struct {
		end    processExit
		atOnce bool
	}{
		"killed from outside after work": {processExit{responded: true, outside: true}, true},
		"crashed after long work":        {processExit{responded: true, lived: minUptime}, true},
		"crashed young":                  {processExit{responded: true, lived: minUptime - 1}, false},
		"killed before it responded":     {processExit{outside: true, lived: minUptime}, false},
		"lived long but never responded": {processExit{lived: time.Hour}, false},
	} {
		b.reset()
		c.end.at = at
		if wait, again := b.next(c.end); !again || (wait == 0) != c.atOnce {
			t.Errorf("%s: wait %s", name, wait)
		}
	}
}
