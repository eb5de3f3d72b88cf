package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt/mqtttest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// unhealthy is the health check of an image that never becomes healthy.
const unhealthy = `HEALTHCHECK --interval=1s --timeout=1s --retries=2 CMD ["/main", "health", "u"]`

// wudVariables are the variables of an installation of What's Up Docker that updates containers by itself.
func wudVariables(socket, registry string, more ...string) []string {
	return append([]string{
		"WUD_WATCHER_LOCAL_SOCKET=" + socket, "WUD_WATCHER_LOCAL_CRON=0 0 1 1 *", "WUD_WATCHER_LOCAL_WATCHBYDEFAULT=false",
		"WUD_REGISTRY_CUSTOM_LAN_URL=http://" + registry,
		"WUD_TRIGGER_DOCKER_LOCAL_PRUNE=true", "WUD_TRIGGER_DOCKER_LOCAL_THRESHOLD=minor",
	}, more...)
}

// deliveriesOf returns the deliveries for a container, the newest first.
func (d *daemon) deliveriesOf(name string) (all []delivery.Delivery) {
	d.t.Helper()
	for _, due := range get[[]delivery.Delivery](d, http.MethodGet, "/api/deliveries?limit=1000") {
		if due.Subject == "local/"+name {
			all = append(all, due)
		}
	}
	return all
}

// delivered waits until the newest delivery for a container is in a state.
func (d *daemon) delivered(name, state string) delivery.Delivery {
	d.t.Helper()
	var all []delivery.Delivery
	eventually(d.t, "the delivery for "+name+" is "+state, func() bool {
		all = d.deliveriesOf(name)
		return len(all) > 0 && all[0].State == state
	})
	return all[0]
}

// TestTriggerUpdatesContainers: with the variables of What's Up Docker alone, containers are
// updated when a newer image is pushed, as thresholds and labels say. One that does not
// work comes back and is not tried again by itself.
func TestTriggerUpdatesContainers(t *testing.T) {
	t.Parallel()
	engine, registry, broker := dockertest.Start(t), startRegistry(t), mqtttest.Start(t, "")
	home := mqtttest.Observe(t, broker.URL())
	web, major := newProduct(t, engine, registry+"/team/web"), newProduct(t, engine, registry+"/team/major")
	newestMinor := major.new
	major.push(t, "2.0.0")
	broken, out := newProduct(t, engine, registry+"/team/broken", unhealthy), newProduct(t, engine, registry+"/team/out")
	hand := newProduct(t, engine, registry+"/team/hand")
	for _, p := range []*product{web, major, broken, out, hand} {
		labels := map[string]string{"wud.watch": "true"}
		name := p.repo[strings.LastIndex(p.repo, "/")+1:]
		switch p {
		case out:
			labels["wud.trigger.exclude"] = "docker.local"
		case hand:
			labels["dogwatch.update.auto"] = "false"
		}
		engine.Run(t, name, p.repo+":1.0.0", labels)
	}
	in := install(t,
		wudVariables(strings.TrimPrefix(engine.Host, "unix://"), registry, "WUD_TRIGGER_MQTT_HOME_URL="+broker.URL(),
			"WUD_TRIGGER_MQTT_HOME_AUTO=false",
			"WUD_TRIGGER_MQTT_HOME_HASS_ENABLED=true", "WUD_TRIGGER_MQTT_HOME_HASS_INSTALL=docker.local")...)
	d := in.start()
	d.watch()

	d.delivered("web", delivery.Sent)
	only(t, engine, "web", web.new)
	op := d.operations("web")[0]
	if succeeded(t, op); op.Trigger != "docker.local" || op.Actor != "" {
		t.Errorf("web: trigger %q, actor %q", op.Trigger, op.Actor)
	}
	if failed := d.delivered("broken", delivery.Failed); !strings.Contains(failed.Error, "its old container is back") ||
		!strings.Contains(failed.Error, "health") {
		t.Errorf("broken: %s", failed.Error)
	}
	only(t, engine, "broken", broken.old)

	if skipped := d.delivered("hand", delivery.Skipped); !strings.Contains(skipped.Error, "dogwatch.update.auto") {
		t.Errorf("hand: %s", skipped.Error)
	}
	only(t, engine, "hand", hand.old)

	d.watch()
	d.settled()
	if ops := d.operations("broken"); len(ops) != 1 || ops[0].State != operation.RolledBack {
		t.Errorf("broken was tried again: %s", show(ops))
	}
	if only(t, engine, "out", out.old); len(d.operations("out"))+len(d.deliveriesOf("out")) > 0 {
		t.Error("out is not for the trigger")
	}
	only(t, engine, "major", newestMinor) // which its threshold lets through

	// By hand there is no threshold, and what was rolled back is tried again.
	run := func(name string) (int, string) {
		status, body := d.request(http.MethodPost, "/api/containers/"+known(d, name).ID+"/triggers/docker/local", "")
		return status, string(body)
	}
	for _, name := range []string{"major", "hand"} {
		if status, body := run(name); status != http.StatusOK || body != "{}" {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	only(t, engine, "major", major.new)
	only(t, engine, "hand", hand.new)
	if status, body := run("broken"); status != http.StatusInternalServerError ||
		!strings.Contains(body, "its old container is back") {
		t.Errorf("broken: %d %s", status, body)
	}
	only(t, engine, "broken", broken.old)
	eventually(t, "major is known to be up to date", func() bool { return !known(d, "major").UpdateAvailable })
	if status, body := run("major"); status != http.StatusInternalServerError ||
		!strings.Contains(body, "nothing newer is known") {
		t.Errorf("major, without an update: %d %s", status, body)
	}
	if status, body := d.request(http.MethodPost, "/api/triggers/docker/local",
		`{"id":"123","name":"made-up"}`); status != http.StatusInternalServerError ||
		!strings.Contains(string(body), "none that is watched") {
		t.Errorf("made up: %d %s", status, body)
	}

	// The Install button of Home Assistant.
	home.UntilHas("homeassistant/update/wud_container_local_out/config", "wud/container/local/out/install")
	home.Say("wud/container/local/out/install", "INSTALL", false)
	home.UntilHas("wud/container/local/out", `"image_tag_value":"1.1.0"`)
	installed := d.ended(d.operations("out")[0].ID) // the old container is removed after the new one is known
	only(t, engine, "out", out.new)
	if installed.Actor != "mqtt.home" || installed.Trigger != "docker.local" {
		t.Errorf("out: trigger %q, actor %q", installed.Trigger, installed.Actor)
	}
	d.stop()
}

// TestKillDuringTriggeredUpdate: a delivery whose update a kill interrupts finds it again. It begins
// another one once that has returned to the old container.
func TestKillDuringTriggeredUpdate(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	web := newProduct(t, engine, registry+"/team/web")
	engine.Run(t, "web", web.repo+":1.0.0", map[string]string{"wud.watch": "true"})
	g := newGate(t, engine)
	in := install(t, wudVariables(g.socket, registry)...)
	d := in.start()
	reached, release := make(chan struct{}), make(chan struct{})
	g.on(func(m moment) bool {
		if m.what != "create" || m.responded {
			return true
		}
		close(reached)
		<-release
		return false
	})
	go func(url string) { // the response may never come
		if resp, err := http.Post(url+"/api/containers/watch", "application/json", nil); err == nil {
			resp.Body.Close()
		}
	}(d.url)
	await(t, reached, "create")
	must(t, d.cmd.Process.Signal(syscall.SIGKILL))
	<-d.done
	g.on(nil)
	close(release)

	d = in.start()
	var ops []api.Operation
	eventually(t, "the delivery has ended", func() bool {
		all := d.deliveriesOf("web")
		ops = d.operations("web")
		return len(all) == 1 && (all[0].State == delivery.Sent || all[0].State == delivery.Failed) && len(ops) > 0 &&
			ops[0].State.Ended()
	})
	if n := len(ops); n > 2 || ops[0].State != operation.Succeeded ||
		n == 2 && (ops[1].State != operation.RolledBack || ops[1].Outcome.Reason.Code != watcher.ReasonInterrupted) {
		t.Errorf("there are %d operations: %s", n, show(ops))
	}
	d.delivered("web", delivery.Sent)
	only(t, engine, "web", web.new)
	d.stop()
}

// TestTriggerEditsComposeFile: the dockercompose trigger writes the new tag into the file of
// the container, and nothing else, and has the container replaced. A watcher that says no is obeyed.
func TestTriggerEditsComposeFile(t *testing.T) {
	t.Parallel()
	t.Run("left open", func(t *testing.T) { testTriggerEdits(t, true) })
	t.Run("off", func(t *testing.T) { testTriggerEdits(t, false, "WUD_WATCHER_LOCAL_COMPOSE=off") })
}

func testTriggerEdits(t *testing.T, edits bool, env ...string) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	web := newProduct(t, engine, registry+"/team/web")
	text := "# the " + web.repo + ":1.0.0 of the house\nservices:\n  web:\n    image: \"" + web.repo +
		":1.0.0\" # pinned\n  db:\n    image: " + web.repo + ":1.0.0-db\n"
	file := filepath.Join(t.TempDir(), "compose.yaml")
	must(t, os.WriteFile(file, []byte(text), 0o640))
	engine.Run(t, "web", web.repo+":1.0.0", map[string]string{
		"wud.watch": "true", "com.docker.compose.project": "house", "com.docker.compose.service": "web",
		"com.docker.compose.project.config_files": "/elsewhere/compose.yaml", "wud.compose.file": file,
	})
	in := install(t, append(env,
		"WUD_WATCHER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"), "WUD_WATCHER_LOCAL_CRON=0 0 1 1 *",
		"WUD_WATCHER_LOCAL_WATCHBYDEFAULT=false",
		"WUD_REGISTRY_CUSTOM_LAN_URL=http://"+registry, "WUD_TRIGGER_DOCKERCOMPOSE_HOUSE_BACKUP=true")...)
	d := in.start()
	d.watch()
	var all []delivery.Delivery
	eventually(t, "the batch has ended", func() bool {
		all = get[[]delivery.Delivery](d, http.MethodGet, "/api/deliveries")
		return len(all) == 1 && all[0].State != delivery.Pending && all[0].State != delivery.Sending
	})
	if (all[0].State == delivery.Sent) != edits || !all[0].Batch {
		t.Errorf("the delivery is %s", show(all))
	}
	if !edits {
		if kept, err := os.ReadFile(file); err != nil || string(kept) != text ||
			!strings.Contains(all[0].Error, "(compose.off)") {
			t.Errorf("the delivery is %s; the file is\n%s%v", show(all), kept, err)
		}
		only(t, engine, "web", web.old)
		return
	}
	only(t, engine, "web", web.new)
	edited, err := os.ReadFile(file)
	if must(t, err); string(edited) != strings.Replace(text, `:1.0.0"`, `:1.1.0"`, 1) {
		t.Errorf("the file is\n%s", edited)
	}
	if backup, err := os.ReadFile(file + ".back"); err != nil || string(backup) != text {
		t.Errorf("the copy is %q, %v", backup, err)
	}
	d.stop()
}

// TestCheckOnceUpdates: a check that delivers once, without serving, carries out the updates too.
func TestCheckOnceUpdates(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	web := newProduct(t, engine, registry+"/team/web")
	engine.Run(t, "web", web.repo+":1.0.0", map[string]string{"wud.watch": "true"})
	in := install(t, wudVariables(strings.TrimPrefix(engine.Host, "unix://"), registry)...)
	path, err := built()
	must(t, err)
	once := exec.Command(path, "check", "--trigger")
	once.Env, once.Dir = in.env, in.store
	if output, err := once.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	only(t, engine, "web", web.new)
}
