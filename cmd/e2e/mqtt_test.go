package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt/mqtttest"
	"github.com/dogwatch/dogwatch/sdk"
)

// A broker holds what Dogwatch knows, with the variables and topics of WUD: while
// it runs, after the trigger's process was killed, and when it has stopped.
func TestMQTTBrokerStateFollowsDogwatch(t *testing.T) {
	t.Parallel()
	broker := mqtttest.Start(t, "")
	o := mqtttest.Observe(t, broker.URL())
	f := newFleet(t, 3, registrysim.Options{})
	acted := filepath.Join(t.TempDir(), "acted")
	in := install(t, append(f.env(),
		"WUD_TRIGGER_MQTT_MOSQUITTO_URL="+broker.URL(), "WUD_TRIGGER_MQTT_MOSQUITTO_HASS_ENABLED=true",
		"WUD_TRIGGER_MQTT_MOSQUITTO_HASS_INSTALL=command.act",
		"DOGWATCH_TRIGGER_COMMAND_ACT_CMD=echo \"$name\" >>"+acted, "DOGWATCH_TRIGGER_COMMAND_ACT_AUTO=false")...)
	d := in.start()
	const base, discovery = "wud/container/local/", "homeassistant/update/wud_container_local_"
	o.UntilHolds("wud/container/status", "online")
	o.UntilHolds("wud/container/total_count", "3")
	o.UntilHolds(base+"running", "false")
	o.UntilHas(discovery+"c0000/config", base+"c0000/install")

	f.registry(1).Push(f.repo(1), "1.1.0")
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	o.UntilHas(base+"c0001", `"update_kind_remote_value":"1.1.0"`)
	o.UntilHolds("wud/container/update_count", "1")
	d.settled()

	// A check that finds nothing says that it ran, and nothing else. The broker may
	// still get messages of the check before.
	var n int
	for range 3 {
		o.Count()
		get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
		o.Until("the check has ended", func(_ map[string]string, messages []string) bool {
			return len(messages) > 0 && messages[len(messages)-1] == base+"running false"
		})
		if n = o.Count(); n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d messages for a check that found nothing, want 2", n)
	}

	o.Say(base+"c0001/install", "INSTALL", false)
	eventually(t, "the command has run", func() bool {
		done, _ := os.ReadFile(acted)
		return string(done) == "c0001\n"
	})
	eventually(t, "the event log has it", func() bool {
		for _, e := range get[[]event.Event](d, http.MethodGet, "/api/events") {
			if e.Type == event.TriggerSent && e.Subject == "command.act" {
				return true
			}
		}
		return false
	})

	pid := 0
	for _, p := range get[[]plugin.Status](d, http.MethodGet, "/api/plugins") {
		if p.Name == "trigger" {
			pid = p.PID
		}
	}
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	o.Until("the broker says that it is gone, and then that it is back",
		func(_ map[string]string, messages []string) bool {
			gone := false
			for _, m := range messages {
				gone = gone || m == "wud/container/status offline"
				if gone && m == "wud/container/status online" {
					return true
				}
			}
			return false
		})
	must(t, f.engine.Remove("c0002"))
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	o.UntilHolds("wud/container/total_count", "2")
	o.UntilHolds(base+"c0002", "")
	o.UntilHolds(discovery+"c0002/config", "")

	d.stop()
	o.UntilHolds("wud/container/status", "offline")

	// What goes while Dogwatch is stopped is cleared at the next start.
	must(t, f.engine.Remove("c0000"))
	d = in.start()
	o.UntilHolds("wud/container/status", "online")
	o.UntilHolds(base+"c0000", "")
	o.UntilHolds(discovery+"c0000/config", "")
	o.UntilHas(base+"c0001", `"name":"c0001"`)
	d.stop()
	o.UntilHolds("wud/container/status", "offline")
}
