package store

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestChangesAreThoseOfUpdates(t *testing.T) {
	s := fresh(t)
	web := sdk.Container{ID: "c1", Watcher: "local", Name: "web"}
	behind := web
	behind.UpdateAvailable, behind.UpdateKind = true, sdk.UpdateKind{Kind: sdk.KindTag, SemverDiff: sdk.DiffMinor}
	rebuilt := web
	rebuilt.UpdateAvailable, rebuilt.UpdateKind = true, sdk.UpdateKind{Kind: sdk.KindDigest}
	var change event.Change
	for i, e := range []event.Event{
		{Type: event.CheckStarted, Subject: "local"},
		{Type: event.ContainerAdded, Payload: event.Payload{Container: &web}},
		{Type: event.UpdateFound, Payload: event.Payload{Container: &behind}},
		{Type: event.ContainerChanged, Payload: event.Payload{Container: &behind, Aspect: event.Released}},
		{Type: event.ContainerChanged, Payload: event.Payload{Container: &behind, Aspect: event.Postponed}},
		{Type: event.ContainerChanged, Payload: event.Payload{Container: &rebuilt, Aspect: event.Decided}},
		{Type: event.ContainerRenamed, Payload: event.Payload{Container: &rebuilt, From: "site"}},
		{Type: event.UpdateCleared, Payload: event.Payload{Container: &web}},
		{Type: event.TriggerSent, Subject: "smtp.main"},
		{Type: event.ContainerRemoved, Payload: event.Payload{Container: &web}},
	} {
		if e.At = start.Add(seconds(i)); e.Container != nil {
			e.Subject = event.Subject(*e.Container)
		}
		change.Events = append(change.Events, e)
	}
	must(t, s.Commit(context.Background(), change))
	var got []string
	for after := int64(0); ; {
		found, err := s.Changes(context.Background(), after, 2)
		must(t, err)
		if len(found) == 0 {
			break
		}
		for _, c := range found {
			got = append(got, fmt.Sprintf("%d %s %s %q from %q", c.ID, c.Type, c.Subject, c.Kind, c.From))
			if want := start.Add(seconds(int(c.ID) - 1)); !c.At.Equal(want) {
				t.Errorf("event %d was at %v, want %v", c.ID, c.At, want)
			}
			after = c.ID
		}
	}
	want := []string{
		`2 container.added local/web "" from ""`, `3 update.found local/web "minor" from ""`,
		`6 container.changed local/web "digest" from ""`,
		`7 container.renamed local/web "digest" from "local/site"`, `8 update.cleared local/web "" from ""`,
		`10 container.removed local/web "" from ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// BenchmarkChanges reads three months of a large house: ten thousand events of containers.
func BenchmarkChanges(b *testing.B) {
	s := fresh(b)
	c := container("local", "web", "c1")
	c.Labels = map[string]string{}
	for i := range 30 {
		c.Labels[fmt.Sprintf("org.example.label.with.a.name.%d", i)] = "a value of some length, as they have"
	}
	var change event.Change
	for i := range 10_000 {
		change.Events = append(change.Events, event.Event{
			At: start.Add(seconds(i)), Type: event.ContainerChanged, Subject: "local/web", Payload: event.Payload{Container: &c},
		})
	}
	must(b, s.Commit(context.Background(), change))
	for b.Loop() {
		for after := int64(0); ; {
			found, err := s.Changes(context.Background(), after, 500)
			must(b, err)
			if len(found) == 0 {
				break
			}
			after = found[len(found)-1].ID
		}
	}
}
