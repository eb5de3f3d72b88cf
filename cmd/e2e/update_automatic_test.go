package e2e

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestAutomaticUpdateOnARealEngine has containers updated by the rules of their labels:
// in a window that is open, and not in one that is closed until a user approves it there.
func TestAutomaticUpdateOnARealEngine(t *testing.T) {
	t.Parallel()
	s := newAutomatic(t, "automatic/app")
	p, engine, d := s.p, s.engine, s.d
	s.run(t, "open", map[string]string{"dogwatch.update": "auto", "dogwatch.update.window": "daily 00:00-24:00"})
	s.run(t, "waiting", map[string]string{"dogwatch.update": "approve"})
	s.run(t, "frozen", map[string]string{"dogwatch.update": "auto", "dogwatch.update.freeze": "2000-01-01..2100-01-01"})
	d.watch()
	if op := d.ended(s.began(t, "open", 0)); op.State != operation.Succeeded || op.Actor != "rule label dogwatch.update" {
		t.Errorf("the operation is %s, by %q", says(op), op.Actor)
	}
	only(t, engine, "open", p.new)
	for name, state := range map[string]string{"waiting": sdk.StateOffered, "frozen": sdk.StateHeld} {
		if c := known(d, name); c.Decision == nil || c.Decision.State != state {
			t.Errorf("%s: %s", name, show(c.Decision))
		}
		if all := d.operations(name); len(all) > 0 {
			t.Errorf("%s is updated: %s", name, show(all))
		}
	}
	if status, body := d.request("POST", "/api/containers/"+known(d, "waiting").ID+"/decision",
		`{"action":"approve"}`); status != 200 {
		t.Fatalf("approval: %d %s", status, body)
	}
	if op := d.ended(s.began(t, "waiting", 0)); op.State != operation.Succeeded {
		t.Errorf("the approved operation is %s", says(op))
	}
	only(t, engine, "waiting", p.new)
	only(t, engine, "frozen", p.old)
	d.watch()
	for _, name := range []string{"open", "waiting"} {
		if all := d.operations(name); len(all) != 1 {
			t.Errorf("%s has %d operations, want 1", name, len(all))
		}
	}
	d.stop()
}

// TestKillDuringChoices kills Dogwatch at random moments while a user decides: five times
// as often as DOGWATCH_TEST_KILLS says. No choice that was confirmed is lost.
func TestKillDuringChoices(t *testing.T) {
	if testing.Short() {
		t.Skip("short: kills processes")
	}
	t.Parallel()
	s := newAutomatic(t, "kill/choices")
	s.run(t, "web", map[string]string{"dogwatch.update": "notify", "dogwatch.update.freeze": "2000-01-01..2100-01-01"})
	s.d.watch()
	random, id := rand.New(rand.NewPCG(11, 11)), known(s.d, "web").ID
	var confirmed int
	stored := ""
	repeat, _ := killRounds(t)
	for n := range 5 * repeat {
		action := []string{"skip", "snooze", "approve", "undo"}[n%4]
		want := action
		if action == "undo" {
			want = ""
		}
		ok := s.killDuring(t, id, action, time.Duration(random.IntN(15))*time.Millisecond)
		got := s.chosen("web")
		switch {
		case ok && got != want, !ok && got != want && got != stored:
			t.Fatalf("kill %d: %q is stored after %s, confirmed: %t; before it was %q", n, got, action, ok, stored)
		}
		if stored = got; ok {
			confirmed++
		}
		if c := known(s.d, "web"); c.Decision == nil || c.Decision.State != sdk.StateHeld {
			t.Fatalf("kill %d: %s", n, show(c.Decision))
		}
	}
	s.d.stop()
	t.Logf("%d of %d choices were confirmed", confirmed, 5*repeat)
}

// TestKillDuringApproval kills Dogwatch at random moments after a user approved an update: as
// often as DOGWATCH_TEST_KILLS says. Each approval that was stored begins one operation.
func TestKillDuringApproval(t *testing.T) {
	if testing.Short() {
		t.Skip("short: kills processes")
	}
	t.Parallel()
	s := newAutomatic(t, "kill/approval")
	random, stored := rand.New(rand.NewPCG(12, 12)), 0
	repeat, _ := killRounds(t)
	for n := range repeat {
		for _, c := range containersOf(t, s.engine, "web") {
			must(t, s.engine.API.ContainerRemove(t.Context(), c.ID, container.RemoveOptions{Force: true}))
		}
		s.p.forget(t)
		s.run(t, "web", map[string]string{"dogwatch.update": "approve"})
		s.d.watch()
		before := len(s.d.operations("web"))
		s.killDuring(t, known(s.d, "web").ID, "approve", time.Duration(random.IntN(300))*time.Millisecond)
		if s.chosen("web") == "" {
			continue // killed before it was stored
		}
		stored++
		s.d.ended(s.began(t, "web", before))
		s.d.watch()
		if all := s.d.operations("web"); len(all) != before+1 {
			t.Fatalf("kill %d: %d operations for one approval: %s", n, len(all)-before, show(all))
		}
		if status, body := s.d.request(http.MethodDelete, "/api/containers/"+known(s.d, "web").ID+"/decision",
			""); status != http.StatusOK {
			t.Fatalf("undo: %d %s", status, body)
		}
	}
	s.d.stop()
	t.Logf("%d of %d approvals were stored", stored, repeat)
}

// automatics is an installation whose watcher may update, and a product with a newer version.
type automatics struct {
	engine *dockertest.Daemon
	p      *product
	in     *installation
	d      *daemon
}

func newAutomatic(t *testing.T, repo string, more ...string) *automatics {
	engine, registry := dockertest.Start(t), startRegistry(t)
	s := &automatics{engine: engine, p: newProduct(t, engine, registry+"/"+repo)}
	s.in = install(t, append(more, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"),
		"DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *", "DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHBYDEFAULT=false", "DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry)...)
	s.d = s.in.start()
	return s
}

func (s *automatics) run(t *testing.T, name string, labels map[string]string) {
	labels["dogwatch.watch"] = "true"
	s.engine.Run(t, name, s.p.repo+":1.0.0", labels)
}

// began waits for one operation of a container more, and returns its id.
func (s *automatics) began(t *testing.T, name string, before int) (id string) {
	t.Helper()
	eventually(t, "an operation of "+name, func() bool {
		all := s.d.operations(name)
		if len(all) > before {
			id = all[0].ID
		}
		return id != ""
	})
	return id
}

// chosen returns what is stored of what users decided about a container; "" for nothing.
func (s *automatics) chosen(name string) string {
	for _, c := range get[[]struct{ Container, Action string }](s.d, http.MethodGet, "/api/choices") {
		if strings.HasSuffix(c.Container, "/"+name) {
			return c.Action
		}
	}
	return ""
}

// killDuring kills Dogwatch some time after a user has begun to decide, and starts
// it again. It reports whether the response says that it is decided.
func (s *automatics) killDuring(t *testing.T, id, action string, after time.Duration) (confirmed bool) {
	t.Helper()
	plugins, responded := get[[]plugin.Status](s.d, http.MethodGet, "/api/plugins"), make(chan bool, 1)
	go func(url string) {
		resp, err := http.Post(url, "application/json", strings.NewReader(`{"action":"`+action+`"}`))
		if err == nil {
			resp.Body.Close()
		}
		responded <- err == nil && resp.StatusCode == http.StatusOK
	}(s.d.url + "/api/containers/" + id + "/decision")
	time.Sleep(after) // the moment is any
	must(t, s.d.cmd.Process.Kill())
	confirmed = <-responded
	<-s.d.done
	for _, p := range plugins {
		if p.PID != 0 {
			eventually(t, "the plugins of a killed host are gone", func() bool { return ended(p.PID) })
		}
	}
	s.d = s.in.start()
	return confirmed
}
