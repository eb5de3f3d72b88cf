package mqtt

import (
	"errors"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt/mqtttest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// updated is a container that has an update or not.
func updated(id, name string, available bool) sdk.Container {
	c := named(id, name)
	c.UpdateAvailable = available
	return c
}

// TestButtonsDecide presses buttons as Home Assistant does.
func TestButtonsDecide(t *testing.T) {
	b := newFake(t)
	o := mqtttest.Observe(t, b.URL())
	i := subscribe(t, with(withHass(b.URL()), map[string]any{"hass.decide": "true"}))
	calls := make(chan string, 10)
	i.stream.decide = func(containerID, action string) error {
		calls <- containerID + " " + action
		return errors.New("no") // which the host logs
	}
	i.send(all(named("1", "nginx"), named("2", "my.app")))
	untilPublished(o, 2)
	o.Say("wud/container/local/nosuch/decide", "skip", false)
	o.Say(nginxTopic+"/decide", "INSTALL", false)
	for _, want := range []string{"1 skip", "1 approve", "1 snooze", "2 skip"} {
		id, action, _ := strings.Cut(want, " ")
		o.Say(map[string]string{"1": nginxTopic, "2": "wud/container/local/my-app"}[id]+"/decide", action, false)
		if got := <-calls; got != want {
			t.Errorf("decided %q, want %q", got, want)
		}
	}
	// The buttons go with the update.
	buttons := func(retained map[string]string) (n int) {
		for topic := range retained {
			if strings.Contains(topic, "/button/") {
				n++
			}
		}
		return n
	}
	i.send(trigger.Change{Put: []sdk.Container{updated("1", "nginx", false)}})
	o.Until("three buttons are left", func(retained map[string]string, _ []string) bool { return buttons(retained) == 3 })
	i.stop()
	// An earlier process may have left some.
	i = subscribe(t, with(withHass(b.URL()), map[string]any{"hass.decide": "true"}))
	i.send(trigger.Change{All: true, Put: []sdk.Container{updated("1", "nginx", true), updated("2", "my.app", false)}})
	o.Until("only those of nginx are there", func(retained map[string]string, _ []string) bool {
		return buttons(retained) == 3 && retained["homeassistant/button/wud_container_local_nginx_skip/config"] != ""
	})
}
