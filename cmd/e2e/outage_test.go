package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestEngineOutageIsNotifiedOnce: an engine is stopped and comes back, and Dogwatch is killed
// meanwhile. Everything that monitoring reads says so, a trigger with that
// option is notified once of each, and another one is not.
func TestEngineOutageIsNotifiedOnce(t *testing.T) {
	t.Parallel()
	engine := dockertest.Start(t)
	hook, hookURL := startSink(t)
	quiet, quietURL := startSink(t)
	engine.Image(t, "app:1")
	engine.Run(t, "app", "app:1", map[string]string{"dogwatch.watch.digest": "false"})
	in := install(t,
		"DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"),
		"DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *",
		"DOGWATCH_TRIGGER_HTTP_HOOK_URL="+hookURL, "DOGWATCH_TRIGGER_HTTP_HOOK_EVENTS=watcher",
		"DOGWATCH_TRIGGER_HTTP_QUIET_URL="+quietURL)
	d := in.start()
	said := func(d *daemon, down bool) bool {
		_, ready := d.request(http.MethodGet, "/api/ready", "")
		_, watchers := d.request(http.MethodGet, "/api/watchers", "")
		_, metrics := d.request(http.MethodGet, "/metrics", "")
		_, page := d.request(http.MethodGet, "/", "")
		_, summary := d.request(http.MethodGet, "/api/summary", "")
		_, badge := d.request(http.MethodGet, "/api/badge.svg", "")
		if status, _ := d.request(http.MethodGet, "/health", ""); status != http.StatusOK {
			t.Errorf("health is %d", status)
		}
		yes := 0
		for _, is := range []bool{
			strings.Contains(string(ready), `"ready":false`) &&
				strings.Contains(string(ready), "watcher.docker.local: docker engine at"),
			strings.Contains(string(watchers), `"state":"failed"`),
			strings.Contains(string(metrics), `dogwatch_component_failed{id="watcher.docker.local"} 1`),
			strings.Contains(string(page), "1 failed watcher") && strings.Contains(string(page), ">Needs attention") &&
				!strings.Contains(string(page), "Nothing needs attention"),
			strings.Contains(string(summary), `"failedWatchers":1`),
			strings.Contains(string(badge), "watcher failed"),
		} {
			if is == down {
				yes++
			}
		}
		return yes == 6
	}
	eventually(t, "the container is known", func() bool { return len(d.containers()) == 1 && said(d, false) })

	engine.Stop(t)
	eventually(t, "everything says that the engine is away", func() bool { return said(d, true) })
	eventually(t, "the trigger is told", func() bool { return len(hook.all()) == 1 })
	// A message under way at the kill may come once more, as every other.
	eventually(t, "the message is recorded as sent", func() bool {
		return len(get[[]json.RawMessage](d, http.MethodGet, "/api/deliveries?state=sent")) == 1
	})
	must(t, d.cmd.Process.Signal(syscall.SIGKILL))
	<-d.done

	d = in.start()
	eventually(t, "everything says it after the kill", func() bool { return said(d, true) })
	_, _ = d.request(http.MethodPost, "/api/containers/watch", "")
	eventually(t, "every delivery is settled", func() bool {
		return len(get[[]json.RawMessage](d, http.MethodGet, "/api/deliveries?state=pending")) == 0
	})
	if all := hook.all(); len(all) != 1 {
		t.Errorf("told %d times after a restart: %q", len(all), all)
	}

	engine.Start(t)
	eventually(t, "everything says that it is back", func() bool { return said(d, false) })
	eventually(t, "the trigger is told", func() bool { return len(hook.all()) == 2 })
	for i, want := range []string{"watcher.failed", "watcher.recovered"} {
		var got struct {
			Event, Watcher, Error, Title string
			Since                        sdk.Time
		}
		must(t, json.Unmarshal([]byte(hook.all()[i]), &got))
		if got.Event != want || got.Watcher != "local" || got.Title == "" || got.Since.IsZero() ||
			(got.Error == "") != (i == 1) {
			t.Errorf("message %d: %+v", i, got)
		}
	}
	if len(quiet.all()) != 0 {
		t.Errorf("a trigger was told that was not asked to: %q", quiet.all())
	}
	var types []string
	for _, e := range get[[]event.Event](d, http.MethodGet, "/api/events?limit=1000") {
		if e.Watcher != nil {
			types = append(types, fmt.Sprint(e.Type))
		}
	}
	if want := []string{"watcher.recovered", "watcher.failed"}; !slices.Equal(types, want) {
		t.Errorf("events %q, want %q", types, want)
	}
	d.stop()
}
