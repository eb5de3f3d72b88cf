package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// killRounds returns how often each process is killed at each moment: as DOGWATCH_TEST_KILLS
// says. Where it says nothing, sample is true, and a test strikes some of its moments in one
// round, since all of them take longer than a run on every change may.
func killRounds(t *testing.T) (rounds int, sample bool) {
	t.Helper()
	text := os.Getenv("DOGWATCH_TEST_KILLS")
	if text == "" {
		return 1, true
	}
	rounds, err := strconv.Atoi(text)
	must(t, err)
	return rounds, false
}

// blows are the moments of an update at which something is killed: before and after
// each request that changes something, and while the new container has to work.
func blows() []moment {
	all := []moment{{what: "health"}}
	for _, what := range []string{"pull", "rename", "tag", "create", "stop", "start", "remove"} {
		all = append(all, moment{what: what}, moment{what: what, responded: true})
	}
	return all
}

// TestKillDuringUpdate kills Dogwatch, its plugin, or one after the other at every
// step of updates on a real engine. Afterwards one container of that name runs, the
// operation says which, nothing is left over, and nothing was done twice.
func TestKillDuringUpdate(t *testing.T) {
	if testing.Short() {
		t.Skip("short: kills processes")
	}
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	repeat, sample := killRounds(t)
	t.Run("victims", func(t *testing.T) {
		for v, victim := range []string{"host", "plugin", "both"} {
			t.Run(victim, func(t *testing.T) {
				t.Parallel()
				k := newKilling(t, engine, registry, victim)
				for n := range repeat {
					for i, b := range blows() {
						if sample && i%3 != v {
							continue // another victim is killed then
						}
						k.round(t, b, (n+i/2)%2 == 1)
					}
				}
				k.d.stop()
				t.Logf("the updates ended %v", k.ends)
			})
		}
	})
}

// killing is an installation whose processes are killed during updates of one container.
type killing struct {
	victim string
	p      *product
	g      *gate
	in     *installation
	d      *daemon
	// ends counts how the operations ended.
	ends map[operation.State]int
	// skip is how many requests of the moment pass before one is struck.
	skip int
	// make makes the container to be updated, and holds says whether all is as it has to be
	// but for that container.
	make  func(t *testing.T, tag string) string
	holds func(t *testing.T)
	// containers is how many an update recreates.
	containers int
}

func newKilling(t *testing.T, engine *dockertest.Daemon, registry, victim string, env ...string) *killing {
	g := newGate(t, engine)
	k := &killing{
		victim: victim, g: g, p: newProduct(t, engine, registry+"/kill/"+victim), ends: map[operation.State]int{},
		containers: 1, holds: func(*testing.T) {},
	}
	k.make = func(t *testing.T, tag string) string {
		t.Helper()
		return engine.Run(t, victim, k.p.repo+":"+tag, map[string]string{"dogwatch.watch": "true"})
	}
	k.p.float(t, "1.1.0")
	k.in = install(t,
		append(env, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+g.socket, "DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *",
			"DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true", "DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHBYDEFAULT=false",
			"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry)...)
	k.d = k.in.start()
	return k
}

// round has a container updated, and kills the victim at a moment of that. The tag of
// the image is a new one, or one that came to mean another image.
func (k *killing) round(t *testing.T, b moment, floating bool) {
	t.Helper()
	what := fmt.Sprintf("%s killed, %s after %d, responded: %v, floating: %v", k.victim, b.what, k.skip, b.responded,
		floating)
	tag := "1.0.0"
	if floating {
		tag = "latest"
		must(t, k.p.engine.API.ImageTag(t.Context(), k.p.repo+":1.0.0", k.p.repo+":latest"))
	}
	k.p.forget(t)
	old := k.make(t, tag)
	// a check that is under way may be older than the container
	eventually(t, "the update of "+what+" is known", func() bool {
		return slices.ContainsFunc(k.d.watch(), func(c sdk.Container) bool { return c.ID == old && c.UpdateAvailable })
	})
	before := len(k.d.operations(k.victim))
	k.g.take()
	k.strike(t, b)
	all := k.d.operations(k.victim)
	if len(all) != before+1 {
		t.Fatalf("%s: there are %d operations, want %d", what, len(all), before+1)
	}
	op := k.d.ended(all[0].ID)
	k.ends[op.State]++
	changes := k.g.take()
	image := k.p.old
	switch op.State {
	case operation.Succeeded:
		image = k.p.new
	case operation.RolledBack:
	case operation.Failed:
		early := b.what == "pull" || b.what == "hook" && k.skip == 0 // before anything is changed
		if !early || op.Outcome == nil || op.Outcome.Reason.Code != "interrupted" {
			t.Errorf("%s: the operation is %s", what, says(op))
		}
	default:
		t.Errorf("%s: the operation is %s", what, says(op))
	}
	only(t, k.p.engine, k.victim, image)
	if c := containersOf(t, k.p.engine, k.victim)[0]; (c.ID == old) != (image == k.p.old) ||
		op.Outcome != nil && op.Outcome.Container != c.ID {
		t.Errorf("%s: container %s runs, the old one was %s; the operation is %s", what, c.ID, old, show(op.Outcome))
	}
	if floating {
		got, err := k.p.engine.API.ImageInspect(t.Context(), k.p.repo+":latest")
		if must(t, err); got.ID != image {
			t.Errorf("%s: latest means %s, want %s", what, got.ID, image)
		}
	}
	k.holds(t)
	if n := k.containers; count(changes, "pull") > 1 || count(changes, "create") > n || count(changes, "start") > 2*n ||
		count(changes, "rename") > 2*n {
		t.Errorf("%s: something was done twice: %v", what, steps(changes))
	}
	if ends := k.d.ends(op.ID); len(ends) != 1 {
		t.Errorf("%s: its end is in the log %d times: %v", what, len(ends), ends)
	}
	if t.Failed() {
		t.Fatalf("%s: changes %v; the operation is %s", what, steps(changes), says(op))
	}
	for _, c := range containersOf(t, k.p.engine, k.victim) {
		k.p.engine.Remove(t, c.ID)
	}
}

// strike begins the update and kills the victim when the moment comes. Afterwards
// k.d is the daemon that runs.
func (k *killing) strike(t *testing.T, b moment) {
	t.Helper()
	c := known(k.d, k.victim)
	host, watcher, plugins := k.d.cmd.Process.Pid, pidOfBundle(k.d, "watcher"),
		get[[]plugin.Status](k.d, http.MethodGet, "/api/plugins")
	pid := host
	if k.victim == "plugin" {
		pid = watcher
	}
	struck := k.arm(b, pid)
	go func(d *daemon) { // the answer may never come
		if resp, err := http.Post(d.url+"/api/containers/"+c.ID+"/update", "application/json", nil); err == nil {
			resp.Body.Close()
		}
	}(k.d)
	await(t, struck, b.what)
	if k.victim == "plugin" {
		k.g.on(nil)
		return
	}
	<-k.d.done
	for _, p := range plugins {
		if p.PID != 0 {
			eventually(t, "the plugins of a killed host are gone", func() bool { return ended(p.PID) })
		}
	}
	k.g.on(nil)
	if k.victim != "both" {
		k.d = k.in.start()
		return
	}
	// What recovers is killed at its first change, too, which may have been made or not.
	arrived, release, made := make(chan struct{}), make(chan struct{}), rand.N(2) == 0
	var first sync.Once
	k.g.on(func(m moment) bool {
		if m.what == "look" || m.what == "permission" || m.responded != made {
			return true
		}
		pass := true
		first.Do(func() {
			close(arrived)
			<-release
			pass = false
		})
		return pass
	})
	k.d = k.in.start()
	eventually(t, "the recovery changes something, or ends", func() bool {
		select {
		case <-arrived:
			_ = syscall.Kill(pidOfBundle(k.d, "watcher"), syscall.SIGKILL)
			return true
		default:
			all := k.d.operations(k.victim)
			return len(all) > 0 && all[0].State.Ended()
		}
	})
	k.g.on(nil)
	close(release)
}

// arm has the gate kill a process at a moment. The request of that moment is lost
// with the process, before or after the engine saw it.
func (k *killing) arm(b moment, pid int) <-chan struct{} {
	struck := make(chan struct{})
	var seen atomic.Int64
	kill := sync.OnceFunc(func() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		close(struck)
	})
	k.g.on(func(m moment) bool {
		switch {
		case b.what == "health" && m.what == "start" && m.responded:
			time.AfterFunc(rand.N(1500*time.Millisecond), kill)
		case m.what == b.what && m.responded == b.responded:
			if seen.Add(1) != int64(k.skip)+1 {
				return true
			}
			if b.responded { // what the plugin says last may be stored or not
				time.AfterFunc(rand.N(10*time.Millisecond), kill)
				return true
			}
			kill()
			return false
		}
		return true
	})
	return struck
}

func await(t testing.TB, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(maxWait):
		t.Fatalf("the moment never came: %s", what)
	}
}
