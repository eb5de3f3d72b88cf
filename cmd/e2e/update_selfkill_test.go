package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/update/operation"
)

// TestKillDuringSelfUpdate kills the helper, Dogwatch or the engine at every step of
// updates of Dogwatch itself. Afterwards one Dogwatch runs, and it knows how the update ended.
func TestKillDuringSelfUpdate(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: kills processes")
	}
	repeat, sample := killRounds(t)
	c, image := contain(t, "DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true")
	steps := []string{"rename", "create", "stop", "start", "health", "remove"}
	next, version := "", 0
	ends := map[operation.State]int{}
	for n := range repeat {
		for v, victim := range []string{"helper", "dogwatch", "engine"} {
			for i, step := range steps {
				if sample && i != 2*v { // before it stops, while it does, and while the new one has to work
					continue
				}
				if victim == "engine" && n > 0 && step != "health" {
					continue // it takes long to restart
				}
				if next == "" || next == image {
					version++
					next = c.push(fmt.Sprintf("1.%d.0", version))
				}
				c.watch()
				op := c.begin("update", "dogwatch")
				struck := c.strike(t, op.ID, victim, step)
				ended := c.outcome(op.ID)
				what := fmt.Sprintf("%s killed at %s (%v): %s", victim, step, struck, says(ended))
				ends[ended.State]++
				switch ended.State {
				case operation.Succeeded:
					image = next
				case operation.RolledBack:
				default:
					t.Error(what)
				}
				c.listening()
				only(t, c.engine, "dogwatch", image)
				if all := c.ends(op.ID); len(all) != 1 {
					t.Errorf("%s: ends %v", what, all)
				}
				if t.Failed() {
					t.Fatal(what)
				}
				t.Logf("%s killed at %s (%v): %s", victim, step, struck, ended.State)
			}
		}
	}
	t.Log(ends)
}

// strike kills the victim once the helper has begun a step. It reports whether it came in time.
func (c *contained) strike(t *testing.T, id, victim, step string) bool {
	t.Helper()
	helper := "dogwatch-dogwatch-" + id + "-helper"
	for began := time.Now(); time.Since(began) < maxWait; time.Sleep(5 * time.Millisecond) {
		h, err := c.engine.API.ContainerInspect(t.Context(), helper)
		if err != nil {
			if time.Since(began) > 10*time.Second {
				return false // it is done already
			}
			continue
		}
		if !strings.Contains(c.logs(h.ID), `{"begin":{"ID":"`+step+`:dogwatch"`) {
			continue
		}
		switch victim {
		case "engine":
			c.engine.Restart(t)
		case "helper":
			_ = syscall.Kill(h.State.Pid, syscall.SIGKILL)
		case "dogwatch":
			for _, one := range containersOf(t, c.engine, "dogwatch") {
				d, err := c.engine.API.ContainerInspect(t.Context(), one.ID)
				if err == nil && one.ID != h.ID && d.State.Pid != 0 {
					_ = syscall.Kill(d.State.Pid, syscall.SIGKILL)
				}
			}
		}
		return true
	}
	t.Fatal("the helper does not come to " + step)
	return false
}
