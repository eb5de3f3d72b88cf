package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// TestPluginsSleep: while they have nothing to do, triggers and registries have no process, which is what
// everything says and no event; checks and deliveries start them
// again.
func TestPluginsSleep(t *testing.T) {
	t.Parallel()
	delivered := make(chan struct{}, 16)
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { delivered <- struct{}{} }))
	t.Cleanup(sink.Close)
	f := newFleet(t, 3, registrysim.Options{})
	d := install(t, append(f.env(), "DOGWATCH_TRIGGER_HTTP_SINK_URL="+sink.URL, "DOGWATCH_PLUGINS_SLEEP=200ms",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *")...).start()
	asleep := func(what string) {
		t.Helper()
		eventually(t, what, func() bool {
			var all []plugin.State
			for _, p := range get[[]plugin.Status](d, http.MethodGet, "/api/plugins") {
				all = append(all, p.State)
			}
			return slices.Equal(all, []plugin.State{plugin.Running, plugin.Asleep, plugin.Asleep})
		})
	}
	eventually(t, "the first check ends", func() bool { return d.logged("check finished") })
	asleep("registries and triggers sleep after a check")
	eventually(t, "the watcher has the only process", func() bool { return children(d.cmd.Process.Pid) == 1 })
	for path, want := range map[string]string{
		"/plugins":    "It starts by itself as soon as it is needed.",
		"/triggers":   "asleep until it is needed",
		"/registries": "asleep until it is needed",
		"/metrics":    `dogwatch_plugin_asleep{bundle="trigger"} 1`,
	} {
		if _, body := d.request(http.MethodGet, path, ""); !strings.Contains(string(body), want) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
	if status, body := d.request(http.MethodGet, "/api/ready", ""); status != http.StatusOK {
		t.Errorf("while plugins sleep, it is not ready: %d %s", status, body)
	}
	f.registry(1).Push(f.repo(1), "1.1.0")
	d.watch()
	<-delivered
	asleep("they sleep again after a check and its delivery")
	up := map[string]bool{}
	for _, e := range get[[]event.Event](d, http.MethodGet, "/api/events?limit=1000") {
		if e.Plugin == nil {
			continue
		}
		if e.Type != event.PluginUp || up[e.Subject] {
			t.Errorf("an event of a plugin that falls asleep, or is woken: %+v", e)
		}
		up[e.Subject] = true
	}
	d.stop()
}

// children counts the processes that one has started (proc_pid_status(5), "PPid").
func children(pid int) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range all {
		text, _ := os.ReadFile(path) // of one that has ended meanwhile, nothing
		if strings.Contains(string(text), fmt.Sprintf("\nPPid:\t%d\n", pid)) {
			n++
		}
	}
	return n
}
