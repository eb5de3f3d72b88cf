package mqtt

import (
	"os"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// TestMain has the tests use the names of WUD, as those do who come from it; see TestNamesAreDogwatchs.
func TestMain(m *testing.M) {
	os.Setenv(namesVariable, "wud")
	os.Exit(m.Run())
}

// TestNamesAreDogwatchs: topics, device, entities and client id, unless the host says wud; a topic that is set stands.
func TestNamesAreDogwatchs(t *testing.T) {
	for variable, want := range map[string]string{"": "dogwatch", "wud": "wud"} {
		t.Setenv(namesVariable, variable)
		m, err := New(sdk.Env{UserAgent: "dogwatch/1"}, Options{URL: mustURL("mqtt://broker"),
			Hass: Hass{Enabled: true, Prefix: "homeassistant"}})
		if err != nil {
			t.Fatal(err)
		}
		c := sdk.Container{Name: "web", Watcher: "local"}
		topic := m.names.container(c)
		announced := m.hass.container(c, topic)
		if topic != want+"/container/local/web" || announced.topic != "homeassistant/update/"+want+
			"_container_local_web/config" ||
			!strings.Contains(string(announced.payload), `"identifiers":["`+want+`"]`) ||
			m.connection.will.topic != want+"/container/status" {
			t.Errorf("%q: %s, %s %s", variable, topic, announced.topic, announced.payload)
		}
		if variable == "" && strings.Contains(strings.ToLower(announced.topic+string(announced.payload)), "wud") {
			t.Errorf("something is called wud: %s %s", announced.topic, announced.payload)
		}
		if id := m.connection.brand.randomID(); !strings.HasPrefix(id, want+"_") || len(id) > 23 {
			t.Errorf("client id %s", id)
		}
		if m, err = New(sdk.Env{}, Options{URL: mustURL("mqtt://broker"), Topic: "home",
			Hass: Hass{Prefix: "homeassistant"}}); err != nil || m.names.root != "home" {
			t.Errorf("a topic of its own: %+v, %v", m, err)
		}
	}
}
