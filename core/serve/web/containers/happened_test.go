package containers

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestContainerHistoryNamesDecisions(t *testing.T) {
	c := &sdk.Container{Watcher: "local", Name: "web", Status: "running", Result: &sdk.Result{Tag: "2.0.0"},
		Decision: &sdk.Decision{
			State: sdk.StateHeld, Reasons: []sdk.Reason{{Code: "skipped", Text: "it was skipped by ann"}},
		}}
	all := happened([]event.Event{
		{
			Type:    event.ChoiceMade,
			Payload: event.Payload{Choice: &event.Choice{Action: "skip", Version: "2.0.0", Actor: "ann"}},
		},
		{Type: event.ContainerChanged, Payload: event.Payload{Container: c, Aspect: event.Decided}},
		{Type: event.ContainerChanged, Payload: event.Payload{Container: c}},
	}, c)
	for i, want := range []string{"2.0.0 skipped by ann", "2.0.0 is held: it was skipped by ann",
		"Started"} {
		if all[i].Words.String() != want {
			t.Errorf("got %q, want %q", all[i].Words, want)
		}
	}
}

// TestPageSaysOnceWhyNothingWasCompared: the reason stands above, and in the history only where it was another one.
func TestPageSaysOnceWhyNothingWasCompared(t *testing.T) {
	unknown := func(reason string) *sdk.Container {
		return &sdk.Container{Watcher: "local", Name: "web", Check: sdk.CheckState{State: sdk.CheckUnknown, Reason: reason}}
	}
	now, before := unknown("its image was loaded from a file"), unknown("its registry gives no digests")
	all := happened([]event.Event{
		{Type: event.ContainerChanged, Payload: event.Payload{Container: now}},
		{Type: event.UpdateCleared, Payload: event.Payload{Container: now}},
		{Type: event.ContainerChanged, Payload: event.Payload{Container: before}},
		{Type: event.UpdateCleared, Payload: event.Payload{Container: before}},
	}, now)
	for i, want := range []string{
		"Not known whether there is anything newer", "Not known whether there is anything newer",
		"Not known whether there is anything newer: its registry gives no digests",
		"Not known whether there is anything newer: its registry gives no digests",
	} {
		if all[i].Words.String() != want {
			t.Errorf("got %q, want %q", all[i].Words, want)
		}
	}
}
