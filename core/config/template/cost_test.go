//go:build !race

package template

import (
	"runtime"
	"testing"
	"time"
)

// TestAttackCosts measures what the attacks of TestRenderEndsWithinItsBudgets cost us. The race detector would be
// measured along: it empties the pools that the regex engines live on.
func TestAttackCosts(t *testing.T) {
	vars := hostile(t)
	for _, c := range attacks {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, _ = render(c.src, vars)
		elapsed := time.Since(start)
		runtime.ReadMemStats(&after)
		allocated := (after.TotalAlloc - before.TotalAlloc) >> 10
		if elapsed > 10*time.Millisecond || allocated > 1<<10 {
			t.Logf("%.70s: %s, %d KiB", c.src, elapsed, allocated)
		}
		if elapsed > 2*time.Second || allocated > 16<<10 {
			t.Errorf("%.70s: %s, %d KiB", c.src, elapsed, allocated)
		}
	}
}
