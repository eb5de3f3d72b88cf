package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// apps is how many containers there are.
const apps = 20

// victim is what a test kills, and when.
type victim struct {
	// process returns the pid to kill.
	process func(d *daemon) int
	// during tells whether the kill is armed for a request of the check or for a delivery.
	duringDelivery bool
	host           bool
}

// witness counts notifications: over HTTP, which may happen twice when an
// outcome was lost, and by a command, which never may.
type witness struct {
	t    testing.TB
	file string

	// arrived, if set, is called when a delivery arrives, before it is answered.
	arrived atomic.Pointer[func()]

	mu       sync.Mutex
	notified map[string]int
}

func (w *witness) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var c sdk.Container
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &c) != nil {
		return // the caller was killed during the request
	}
	w.mu.Lock()
	w.notified[c.Name+" "+c.Result.Tag]++
	w.mu.Unlock()
	if arrived := w.arrived.Load(); arrived != nil {
		(*arrived)()
	}
}

func (w *witness) count(update string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.notified[update]
}

// done counts how often the command ran for an update.
func (w *witness) done(update string) int {
	body, _ := os.ReadFile(w.file)
	return strings.Count(string(body), update+"\n")
}

func TestKillDuringCheckOrDelivery(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: kills processes hundreds of times")
	}
	bundle := func(name string) func(d *daemon) int {
		return func(d *daemon) int { return pidOfBundle(d, name) }
	}
	host := func(d *daemon) int { return d.cmd.Process.Pid }
	for name, v := range map[string]victim{
		"host during a check":        {process: host, host: true},
		"host during a delivery":     {process: host, host: true, duringDelivery: true},
		"watcher during a check":     {process: bundle("watcher")},
		"watcher during a delivery":  {process: bundle("watcher"), duringDelivery: true},
		"registry during a check":    {process: bundle("registry")},
		"registry during a delivery": {process: bundle("registry"), duringDelivery: true},
		"trigger during a check":     {process: bundle("trigger")},
		"trigger during a delivery":  {process: bundle("trigger"), duringDelivery: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killOften(t, v)
		})
	}
}

func killOften(t *testing.T, v victim) {
	f := newFleet(t, apps, registrysim.Options{Latency: 2 * time.Millisecond, ETags: true})
	w := &witness{t: t, notified: map[string]int{}, file: filepath.Join(t.TempDir(), "done")}
	sink := httptest.NewServer(w)
	t.Cleanup(sink.Close)
	in := install(t, append(f.env(),
		"DOGWATCH_TRIGGER_HTTP_SINK_URL="+sink.URL,
		"DOGWATCH_TRIGGER_COMMAND_ACT_CMD=echo \"$name $result_tag\" >>"+w.file)...)
	d := in.start()
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	kills, sample := killRounds(t)
	if kills *= 100; sample {
		kills = 4
	}
	for round := range kills {
		app, tag := round%apps, fmt.Sprintf("1.%d.0", round+1)
		f.registry(app).Push(f.repo(app), tag)
		d = strike(t, v, f, w, in, d)
		// Whatever was interrupted, the next check and some time make it whole.
		containers := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
		update := fmt.Sprintf("c%04d %s", app, tag)
		if len(containers) != apps {
			t.Fatalf("round %d: %d containers, want %d", round, len(containers), apps)
		}
		eventually(t, fmt.Sprintf("round %d: %s is told over HTTP", round, update), func() bool {
			return w.count(update) > 0
		})
		d.settled()
		lost := outcomeUnknown(d, app)
		if n := w.done(update); n > 1 || n == 0 && !lost {
			t.Fatalf("round %d: the command ran %d times for %s (outcome unknown: %v)", round, n, update, lost)
		}
		if n := w.count(update); n > 2 || n > 1 && !v.duringDelivery {
			t.Fatalf("round %d: %s was told %d times over HTTP", round, update, n)
		}
	}
	d.stop()
}

// pidOfBundle returns the process of a bundle; 0 while it has none.
func pidOfBundle(d *daemon, name string) int {
	for _, p := range get[[]plugin.Status](d, http.MethodGet, "/api/plugins") {
		if p.Name == name {
			return p.PID
		}
	}
	return 0
}

// strike starts a check and kills the victim at a random moment of it, or while
// a delivery is under way. It returns the daemon that runs afterwards.
func strike(t *testing.T, v victim, f *fleet, w *witness, in *installation, d *daemon) *daemon {
	t.Helper()
	struck := make(chan struct{})
	var pid int
	eventually(t, "there is a process to kill", func() bool { pid = v.process(d); return pid != 0 })
	var after atomic.Int64
	if !v.duringDelivery {
		after.Store(rand.Int64N(apps))
	}
	hit := sync.OnceFunc(func() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		close(struck)
	})
	blow := func() {
		if after.Add(-1) < 0 {
			hit()
		}
	}
	if v.duringDelivery {
		w.arrived.Store(&blow)
	} else {
		f.requested.Store(&blow)
	}
	plugins := get[[]plugin.Status](d, http.MethodGet, "/api/plugins")
	go func() { // the answer may never come
		req, _ := http.NewRequest(http.MethodPost, d.url+"/api/containers/watch", nil)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	select {
	case <-struck:
	case <-time.After(maxWait):
		t.Fatal("the moment to kill never came")
	}
	w.arrived.Store(nil)
	f.requested.Store(nil)
	if !v.host {
		return d
	}
	<-d.done
	for _, p := range plugins {
		if p.PID != 0 {
			eventually(t, "the plugins of a killed host are gone", func() bool { return ended(p.PID) })
		}
	}
	return in.start()
}

// ended reports whether a process is gone, or only waits to be collected by init.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == syscall.ESRCH
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z")
}

// outcomeUnknown reports whether the newest delivery to the command about a
// container was given up because its outcome is not known.
func outcomeUnknown(d *daemon, app int) bool {
	for _, failed := range get[[]delivery.Delivery](d, http.MethodGet,
		"/api/deliveries?state=failed&trigger=command.act&limit=1000") {
		if failed.Subject == fmt.Sprintf("local/c%04d", app) {
			return strings.Contains(failed.Error, "outcome unknown")
		}
	}
	return false
}
