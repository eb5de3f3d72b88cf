package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// decidedFor returns the text of the reason of a code for which a container is held; "" where it is not.
func decidedFor(d *daemon, name, code string) string {
	c := known(d, name)
	if c.Decision == nil || c.Decision.State != sdk.StateHeld {
		return ""
	}
	for _, r := range c.Decision.Reasons {
		if r.Code == code {
			return r.Text
		}
	}
	return ""
}

// TestImageIsPulledBeforeItsWindowOnARealEngine: an hour before it opens, and nothing else is done.
func TestImageIsPulledBeforeItsWindowOnARealEngine(t *testing.T) {
	t.Parallel()
	s := newAutomatic(t, "outcome/preload", "DOGWATCH_UPDATES_PRELOAD=1h")
	window := func(from time.Duration) string {
		at := time.Now().UTC().Add(from)
		return "daily " + at.Format("15:04") + "-" + at.Add(time.Hour).Format("15:04") + " UTC"
	}
	s.run(t, "soon", map[string]string{"dogwatch.update": "auto", "dogwatch.update.window": window(30 * time.Minute)})
	s.run(t, "later", map[string]string{"dogwatch.update": "auto", "dogwatch.update.window": window(3 * time.Hour)})
	s.run(t, "told", map[string]string{"dogwatch.update": "notify", "dogwatch.update.window": window(30 * time.Minute)})
	s.d.watch()
	op := s.d.ended(s.began(t, "soon", 0))
	if op.State != operation.Succeeded || !op.DryRun || op.Actor != "rule updates.preload" || len(op.Steps) != 1 {
		t.Errorf("the operation is %s, by %q, a dry run: %t", says(op), op.Actor, op.DryRun)
	}
	for _, name := range []string{"soon", "later", "told"} {
		only(t, s.engine, name, s.p.old)
		if n := len(s.d.operations(name)); n > 0 && name != "soon" || n > 1 {
			t.Errorf("%s has %d operations", name, n)
		}
	}
	if text := decidedFor(s.d, "soon", policy.ReasonWindow); text == "" {
		t.Error("the update does not wait for its window")
	}
	if _, err := s.engine.API.ImageInspect(t.Context(), s.p.new); err != nil {
		t.Errorf("the image is not there: %v", err)
	}
	s.d.stop()
}

// TestRollbackByAUserIsHeldOnARealEngine: it is no failure, and no rule undoes it.
func TestRollbackByAUserIsHeldOnARealEngine(t *testing.T) {
	t.Parallel()
	s := newAutomatic(t, "outcome/rollback")
	s.run(t, "web", map[string]string{"dogwatch.update": "auto"})
	s.d.watch()
	succeeded(t, s.d.ended(s.began(t, "web", 0)))
	s.d.watch()
	succeeded(t, s.d.ended(s.d.begin("rollback", "web").ID))
	s.d.watch()
	eventually(t, "the update is held", func() bool {
		return strings.HasPrefix(decidedFor(s.d, "web", policy.ReasonUndone), "it was rolled back by you")
	})
	only(t, s.engine, "web", s.p.old)
	if n := len(s.d.operations("web")); n != 2 {
		t.Errorf("there are %d operations", n)
	}
	s.d.stop()
}

// TestFailureHoldsItsStackOnARealEngine: what waits behind it says so, until that works.
func TestFailureHoldsItsStackOnARealEngine(t *testing.T) {
	t.Parallel()
	s := newAutomatic(t, "outcome/stack")
	member := func(service, needs string, more ...string) {
		labels := map[string]string{
			"dogwatch.update": "auto", "com.docker.compose.project": "shop", "com.docker.compose.service": service,
			"com.docker.compose.depends_on": needs,
		}
		for i := 0; i+1 < len(more); i += 2 {
			labels[more[i]] = more[i+1]
		}
		s.run(t, service, labels)
	}
	member("auth", "", "dogwatch.probe.tcp", ":1", "dogwatch.probe.window", "2s")
	member("web", "auth:service_started:false")
	s.d.watch()
	if op := s.d.ended(s.began(t, "auth", 0)); op.State != operation.RolledBack {
		t.Errorf("the operation is %s", says(op))
	}
	eventually(t, "what depends on it is held", func() bool {
		text := decidedFor(s.d, "web", policy.ReasonStack)
		return strings.HasPrefix(text, "stack stopped by auth (failed ")
	})
	only(t, s.engine, "web", s.p.old)
	if n := len(s.d.operations("web")); n != 0 {
		t.Errorf("web has %d operations", n)
	}
	s.d.stop()
}
