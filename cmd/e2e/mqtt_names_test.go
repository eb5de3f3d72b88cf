package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt/mqtttest"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestMQTTNames: topics, device and entities are called wud for whoever comes from What's Up Docker or has published
// under these names, at every later start too, and nothing is for anybody else.
func TestMQTTNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want string
		// before brings an installation to its last start.
		before func(t *testing.T, in *installation)
	}{
		"none of it": {"dogwatch", func(*testing.T, *installation) {}},
		"published under names of its own": {"dogwatch", func(_ *testing.T, in *installation) {
			in.start().stop()
		}},
		"a variable": {"wud", func(_ *testing.T, in *installation) {
			in.env = append(in.env, "WUD_LOG_LEVEL=debug")
		}},
		"variables that were renamed": {"wud", func(_ *testing.T, in *installation) {
			env := in.env
			in.env = append(in.env, "WUD_TRIGGER_MQTT_HOME_HASS_ENABLED=true")
			in.start().stop()
			in.env = env
		}},
		"the store of WUD, which goes after its import": {"wud", func(t *testing.T, in *installation) {
			file := filepath.Join(in.store, "wud.json")
			must(t, os.WriteFile(file, wudFile(t, nil), 0o600))
			in.start().stop()
			must(t, os.Remove(file))
		}},
		"a store of a Dogwatch that published as WUD": {"wud", func(t *testing.T, in *installation) {
			s, err := store.Open(t.Context(), filepath.Join(in.store, "dogwatch.db"), store.Options{})
			must(t, err)
			_, err = s.Plan(t.Context(), dispatch.Reader, 1, nil)
			must(t, err)
			must(t, s.Close())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := mqtttest.Start(t, "")
			o := mqtttest.Observe(t, broker.URL())
			f := newFleet(t, 1, registrysim.Options{})
			in := install(t, append(f.env(), "DOGWATCH_TRIGGER_MQTT_HOME_URL="+broker.URL(),
				"DOGWATCH_TRIGGER_MQTT_HOME_HASS_ENABLED=true")...)
			c.before(t, in)
			d := in.start()
			entity := "homeassistant/update/" + c.want + "_container_local_c0000/config"
			o.UntilHolds(c.want+"/container/status", "online")
			o.UntilHas(entity, `"identifiers":["`+c.want+`"]`)
			d.settled()
			for topic, payload := range o.Topics() {
				if payload == "" || payload == "offline" {
					continue
				}
				if is := strings.Contains(topic, "wud"); is != (c.want == "wud") {
					t.Errorf("%s holds %.200s", topic, payload)
				}
			}
		})
	}
}

// TestMQTTWrongInstall: a trigger that hass.install names and nobody configured is an error at start that says what was
// probably meant, and Home Assistant hears it when its button is pressed.
func TestMQTTWrongInstall(t *testing.T) {
	t.Parallel()
	broker := mqtttest.Start(t, "")
	o := mqtttest.Observe(t, broker.URL())
	f := newFleet(t, 1, registrysim.Options{})
	d := install(t, append(f.env(), "DOGWATCH_TRIGGER_MQTT_HOME_URL="+broker.URL(),
		"DOGWATCH_TRIGGER_MQTT_HOME_HASS_ENABLED=true", "DOGWATCH_TRIGGER_MQTT_HOME_HASS_INSTALL=command.atc",
		"DOGWATCH_TRIGGER_COMMAND_ACT_CMD=true")...).start()
	eventually(t, "the log names the trigger that is meant", func() bool {
		return d.logged(`names the trigger \"command.atc\", which is not configured`, "did you mean command.act?")
	})
	f.registry(0).Push(f.repo(0), "1.1.0")
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	const topic = "dogwatch/container/local/c0000"
	o.UntilHas(topic, `"update_kind_remote_value":"1.1.0"`)
	o.Say(topic+"/install", "INSTALL", false)
	o.UntilHas(topic, `"install_error":"trigger command.atc`)
	o.UntilHas(topic, `"release_summary":"Install failed: trigger command.atc`)
}
