package components

import (
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestRegistryUse(t *testing.T) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	record := func(registry, state, cause string) *store.Record {
		c := sdk.Container{Image: sdk.Image{Registry: sdk.Registry{Name: registry}}, Check: sdk.CheckState{State: state}}
		if state == sdk.CheckFailed {
			c.Error = &sdk.ContainerError{Message: "registry.custom.home: list tags of a at home:5000: 503 s3cret", Cause: cause}
		}
		at = at.Add(time.Second)
		return &store.Record{Container: c, CheckedAt: at}
	}
	const down = "home:5000 is unavailable"
	use := registryUseOf([]*store.Record{
		record("custom.home", sdk.CheckFailed, down), record("custom.home", sdk.CheckFailed, down),
		record("custom.home", sdk.CheckNever, ""),
		record("hub.public", sdk.CheckFailed, "Docker Hub is unavailable"), record("hub.public", sdk.CheckOK, ""),
		record("ghcr.public", sdk.CheckFailed, ""), record("", sdk.CheckFailed, down),
	}, func(text string) string { return strings.ReplaceAll(text, "s3cret", "***") })
	found, known := use.unresponsive, evidence{registries: use}
	home := found["custom.home"]
	if len(found) != 1 || home == nil || home.Of != 2 || home.Asked.Second() != 2 ||
		home.Why.String() != down+" (503 ***)" {
		t.Fatalf("%+v, %+v", found, home)
	}
	for _, c := range []struct {
		id    string
		state component.State
		want  string
	}{
		{"custom.home", component.Ready, "Unavailable"}, {"custom.home", component.Failed, "Failed"},
		{"hub.public", component.Ready, "Ready"}, {"ghcr.public", component.Failed, "Failed"},
		{"quay.public", component.Ready, "Not used"}, {"quay.public", component.Failed, "Failed"},
	} {
		got := known.stateOf(service.Component{View: component.View{ID: c.id, State: c.state}}).State.Word.String()
		if got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.id, c.state, got, c.want)
		}
	}
}
