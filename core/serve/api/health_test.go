package api

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReadiness(t *testing.T) {
	next := time.Date(2026, 3, 29, 2, 0, 0, 0, time.UTC)
	w := start(t, nil)
	w.checks.next = next
	state := decodeAs[readiness](w.get("/api/ready").want(503))
	if state.Ready || len(state.Problems) != 2 {
		t.Errorf("ready %t, problems %q", state.Ready, state.Problems)
	}
	for _, want := range []string{"trigger.smtp.refused: ", "trigger.acme.x: "} {
		if !slices.ContainsFunc(state.Problems, func(p string) bool { return strings.HasPrefix(p, want) }) {
			t.Errorf("no problem of %s in %q", want, state.Problems)
		}
	}
	if !state.Watchers["local"].NextCheck.Equal(next) {
		t.Errorf("next check %v", state.Watchers)
	}
}

// TestReadinessNamesUnreachableEngine: every response that monitoring reads says it, and health stays well.
func TestReadinessNamesUnreachableEngine(t *testing.T) {
	w := start(t, nil)
	local := w.components.Watchers()[0]
	w.put(nginx())
	check := func(state string, failed int) {
		t.Helper()
		ready := decodeAs[readiness](w.get("/api/ready").want(503)) // triggers of the fixture are misconfigured
		problem := slices.ContainsFunc(ready.Problems, func(p string) bool {
			return p == "watcher.docker.local: connect: refused"
		})
		same(t, "problems name it", problem, failed > 0)
		same(t, "the state", w.get("/api/watchers").want(200).list()[0]["state"], any(state))
		same(t, "the summary", w.get("/api/summary?watcher=local").want(200).object()["failedWatchers"], any(float64(failed)))
		same(t, "the badge", strings.Contains(string(w.get("/api/badge.svg").want(200).body), "watcher failed"), failed > 0)
		same(t, "the metrics",
			strings.Contains(string(w.get("/metrics").want(200).body),
				fmt.Sprintf(`dogwatch_component_failed{id="watcher.docker.local"} %d`, failed)), true)
		w.get("/health").want(200)
	}
	asOf := func(want any) {
		t.Helper()
		same(t, "as of", w.get("/api/watchers").want(200).list()[0]["asOf"], want)
	}
	check("ready", 0)
	asOf(nil)
	refused := errors.New("watcher.docker.local: connect: refused") // as plugins' errors begin
	if !local.SetReached(time.Now(), refused) || local.SetReached(time.Now(), refused) || !local.Usable() {
		t.Error("the component does not say what changed")
	}
	check("failed", 1)
	// It has not responded since the start, but to an earlier process.
	asOf(any(w.store.Snapshot().All()[0].CheckedAt.UTC().Format("2006-01-02T15:04:05.000Z")))
	local.SetReached(time.Date(2026, 11, 27, 14, 2, 0, 0, time.UTC), nil)
	check("ready", 0)
	asOf(nil)
	local.SetReached(time.Now(), refused)
	asOf(any("2026-11-27T14:02:00.000Z"))
	local.SetReached(time.Now(), nil) // other tests have it, too
}

func TestHealthUptime(t *testing.T) {
	now := time.Now()
	w := start(t, nil, func(o *testOptions) { o.Now = func() time.Time { return now } })
	now = now.Add(90500 * time.Millisecond)
	same(t, "uptime", w.get("/health").want(200).object()["uptime"], any(90.5))
}
