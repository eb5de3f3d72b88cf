package e2e

import (
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// engineOutage is longer than the watcher waits for an engine when it looks at something.
const engineOutage = 31 * time.Second

// TestEngineIsDownDuringUpdate has the engine hang, or be gone, for half a minute, each
// at two moments of updates. They end by themselves once it is back.
func TestEngineIsDownDuringUpdate(t *testing.T) {
	if testing.Short() {
		t.Skip("short: waits for half a minute")
	}
	t.Parallel()
	for what, outage := range map[string]struct {
		begin, end func(*dockertest.Daemon, testing.TB)
		ends       map[moment]operation.State
	}{
		"hangs": {(*dockertest.Daemon).Pause, (*dockertest.Daemon).Resume, map[moment]operation.State{
			{what: "create"}: operation.Succeeded, {what: "start", responded: true}: operation.Succeeded,
		}},
		"gone": {(*dockertest.Daemon).Kill, (*dockertest.Daemon).Start,
			map[moment]operation.State{{what: "stop"}: operation.Succeeded, {what: "remove"}: operation.Succeeded}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			engine, registry := dockertest.Start(t), startRegistry(t)
			type update struct {
				*actor
				op      string
				want    operation.State
				arrived <-chan struct{}
			}
			var all []update
			down := make(chan struct{})
			for m, want := range outage.ends {
				a, arrived := act(t, engine, registry, what+"-"+m.what, nil, restarting), make(chan struct{})
				a.g.at(m.what, m.responded, func() bool { close(arrived); <-down; return true })
				all = append(all, update{a, a.d.begin("update", a.name).ID, want, arrived})
			}
			for _, u := range all {
				await(t, u.arrived, u.name)
			}
			outage.begin(engine, t)
			close(down)
			time.Sleep(engineOutage) // the time itself is tested
			outage.end(engine, t)
			back := time.Now()
			for _, u := range all {
				state := u.settle(t, u.op)
				t.Logf("%s ended within %v", u.name, time.Since(back))
				if state != u.want {
					t.Errorf("the operation of %s is %s, want %s", u.name, state, u.want)
				}
				u.d.stop()
			}
		})
	}
}
