package components

import (
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestUnresponsiveRegistries(t *testing.T) {
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
	found := unresponsiveRegistries([]*store.Record{
		record("custom.home", sdk.CheckFailed, down), record("custom.home", sdk.CheckFailed, down),
		record("custom.home", sdk.CheckNever, ""),
		record("hub.public", sdk.CheckFailed, "Docker Hub is unavailable"), record("hub.public", sdk.CheckOK, ""),
		record("ghcr.public", sdk.CheckFailed, ""), record("", sdk.CheckFailed, down),
	}, func(text string) string { return strings.ReplaceAll(text, "s3cret", "***") })
	home := found["custom.home"]
	if len(found) != 1 || home == nil || home.Of != 2 || home.Asked.Second() != 2 ||
		home.Why.String() != down+": 503 ***" {
		t.Fatalf("%+v, %+v", found, home)
	}
	for state, want := range map[component.State]string{component.Ready: "Not responding", component.Failed: "Failed"} {
		if got := home.stateOf(componentState(state)).Word.String(); got != want {
			t.Errorf("%s: %s, want %s", state, got, want)
		}
		answers := (*unresponsive)(nil)
		if got := answers.stateOf(componentState(state)); got.Class != componentState(state).Class {
			t.Errorf("%s: a registry that answers is in another state", state)
		}
	}
}
