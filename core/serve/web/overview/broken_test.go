package overview

import (
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestWithoutKey(t *testing.T) {
	c := webtest.Configured(kind.Trigger, "ntfy", "phone", component.Ready)
	for text, want := range map[string]string{
		"trigger.ntfy.phone.topic: is required": "topic: is required",
		"trigger.ntfy.phone2.topic: is gone":    "trigger.ntfy.phone2.topic: is gone",
		"the plugin is down":                    "the plugin is down",
	} {
		if got := withoutKey(text, c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOverviewSaysWhatWasNotDelivered: of triggers that update, only what no other sentence is about.
func TestOverviewSaysWhatWasNotDelivered(t *testing.T) {
	triggers := []service.Component{{View: component.View{ID: "docker.local"}, Acts: true}, {
		View: component.View{ID: "ntfy.phone"},
	}}
	failed := []delivery.Delivery{
		{Trigger: "docker.local", Subject: "local/app", Error: "app is back"},
		{Trigger: "docker.local", Subject: "local/db", Error: "db is not in a compose file"},
		{Trigger: "docker.local", Subject: "local/web", Error: "seen by its user", Manual: true},
		{Trigger: "ntfy.phone", Subject: "local/app", Error: "refused"},
	}
	var got []string
	for _, l := range unsentOf(failed,
		[]delivery.Delivery{{Trigger: "ntfy.phone", Subject: "local/db", Error: "refused"}, {Trigger: "ntfy.phone"}},
		triggers, map[string]bool{"local/app": true}) {
		got = append(got, l.Word.String()+": "+l.Text.String())
	}
	if want := []string{"failed: docker.local: db is not in a compose file",
		"not sent: ntfy.phone could not send 2 messages: refused"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
