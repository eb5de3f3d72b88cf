package e2e

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// hangingTrigger installs Dogwatch with containers and a trigger whose runs hang.
func hangingTrigger(t *testing.T) *installation {
	t.Helper()
	compiled, err := actsPlugin()
	must(t, err)
	dir := shortDir(t)
	copyFile(t, compiled, filepath.Join(dir, "trigger-acts"))
	return install(t,
		append(newFleet(t, 2, registrysim.Options{}).env(), "DOGWATCH_PLUGINS_DIR="+dir,
			"DOGWATCH_PLUGINS_GRANTS=trigger-acts=engine",
			"DOGWATCH_TRIGGER_ACTS_MAIN_NOTE=hang", "DOGWATCH_TRIGGER_ACTS_MAIN_AUTO=false")...)
}

// runManually starts a manual run and does not wait for its end.
func (d *daemon) runManually(c sdk.Container) {
	d.t.Helper()
	eventually(d.t, "the trigger is ready", func() bool {
		triggers := get[[]struct {
			ID    string `json:"id"`
			State string `json:"state"`
		}](d, http.MethodGet, "/api/triggers")
		return len(triggers) == 1 && triggers[0].State == "ready"
	})
	ctx, cancel := context.WithCancel(context.Background())
	d.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+"/api/containers/"+c.ID+"/triggers/acts/main", nil)
	must(d.t, err)
	go func() {
		if resp, err := http.DefaultClient.Do(req); err == nil { // else the host was killed, or the test is over
			resp.Body.Close()
		}
	}()
}

// logged reports whether a line of the log has all these parts.
func (d *daemon) logged(parts ...string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(strings.Split(d.log.String(), "\n"), func(line string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
	})
}

// TestProgressOfAPlugin: what a trigger's process reports reaches the log, the
// stream of events and the page, coalesced and with the last step.
func TestProgressOfAPlugin(t *testing.T) {
	t.Parallel()
	d := hangingTrigger(t).start()
	c := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")[0]
	steps := d.stream("delivery.progress")
	d.runManually(c)
	eventually(t, "the log has the last step", func() bool {
		return d.logged(`"phase":"replace"`, `"message":"it hangs"`, `"trigger":"acts.main"`)
	})
	if !d.logged(`"phase":"pull"`, `"current":`, `"total":1000`) {
		t.Error("the log has no step of the first phase")
	}
	var last string
	n := 0
	for ; !strings.Contains(last, "it hangs"); n++ {
		last = <-steps
	}
	if want := `{"delivery":1,"trigger":"acts.main","manual":true,"subject":"local/` + c.Name +
		`","phase":"replace","message":"it hangs"}`; last != `{"deliveries":[`+want+`]}` || n > 10 {
		t.Errorf("the stream sent %d times, the last %s", n, last)
	}
	if _, page := d.request(http.MethodGet, "/deliveries", ""); !strings.Contains(string(page),
		"on its way: replace: it hangs") {
		t.Error("the page of the deliveries has no step")
	}
	d.stop()
}

// TestKillDuringManualRun: a manual run that is killed with Dogwatch is in the
// history after the next start, as one whose outcome is unknown, and not repeated.
func TestKillDuringManualRun(t *testing.T) {
	t.Parallel()
	in := hangingTrigger(t)
	d := in.start()
	c := get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")[0]
	d.runManually(c)
	eventually(t, "it hangs", func() bool { return d.logged("it hangs") })
	if sending := get[[]delivery.Delivery](d, http.MethodGet, "/api/deliveries?state=sending"); len(sending) != 1 ||
		!sending[0].Manual {
		t.Errorf("during the run: %+v", sending)
	}
	must(t, d.cmd.Process.Signal(syscall.SIGKILL))
	<-d.done

	d = in.start()
	d.settled()
	const lost = "outcome unknown: dogwatch stopped during the run, which is not repeated by itself"
	all := get[[]delivery.Delivery](d, http.MethodGet, "/api/deliveries")
	if len(all) != 1 || all[0].State != delivery.Failed || !all[0].Manual || all[0].Error != lost ||
		all[0].Subject != event.Subject(c) {
		t.Errorf("after the kill: %+v", all)
	}
	var failed []event.Event
	for _, e := range get[[]event.Event](d, http.MethodGet, "/api/events") {
		if e.Type == event.TriggerFailed {
			failed = append(failed, e)
		}
	}
	if len(failed) != 1 || !failed[0].Delivery.Manual || failed[0].Delivery.Error != lost {
		t.Errorf("events %+v", failed)
	}
	if _, page := d.request(http.MethodGet, "/history", ""); !strings.Contains(string(page), lost) ||
		!strings.Contains(string(page), c.Name+", asked for by hand") {
		t.Error("the history does not show it")
	}
	if d.logged("it hangs") {
		t.Error("it was repeated")
	}
	d.stop()
}
