package schedule

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestScheduleProbesFailingEngine: the schedule alone would notice after an hour that it is back.
func TestScheduleProbesFailingEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes []time.Duration
		back := 20 * time.Minute // by then
		b := run(t, func(b *bench) {
			b.AtStart = true
			away := func() bool { return time.Since(b.start) < back }
			failing := true
			check := b.Check
			b.Check = func(ctx context.Context) {
				check(ctx)
				failing = away()
			}
			b.Failing = func() bool { return failing }
			b.Probe = func(context.Context) error {
				b.note(&probes)
				if away() {
					return errors.New("connection refused")
				}
				failing = false
				return nil
			}
		})
		checks, _ := b.after(55 * time.Minute)
		s, m := time.Second, time.Minute
		want(t, "probed", probes, 30*s, 90*s, 210*s, 450*s, 750*s, 1050*s, 1350*s)
		want(t, "checked", checks, 0, 22*m+30*s)
		b.stop()
	})
}
