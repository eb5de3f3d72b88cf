package mqtt

import (
	"errors"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt/mqtttest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// TestProbeKeepsTheConnection: a probe neither takes over the client identifier nor publishes anything.
func TestProbeKeepsTheConnection(t *testing.T) {
	b := mqtttest.Start(t, "")
	o := map[string]any{"url": b.URL(), "clientid": "mine", "hass.enabled": "true"}
	m := plugintest.Trigger(t, Type(), o)
	seen := mqtttest.Observe(t, b.URL())
	found, err := m.Probe(t.Context(), sdk.ProbeRequest{})
	if err != nil || found.Summary != "the broker at "+b.URL()+" accepts the connection" {
		t.Errorf("got %+v, %v", found, err)
	}
	if n := seen.Count(); n > 0 {
		t.Errorf("it published %d messages", n)
	}
	b.Stop()
	if _, err := m.Probe(t.Context(), sdk.ProbeRequest{}); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("without a broker: %v", err)
	}
}
