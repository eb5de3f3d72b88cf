package store

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/policy"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// webChoice is in every file that can have it.
var webChoice = policy.Choice{
	Subject: "local/web", Kind: policy.Skip, Actor: "ana", At: sdk.TimeOf(start),
	Update: update.Key{Subject: "local/web", Kind: sdk.KindTag, FromTag: "1.25.0", ToTag: "2.0.0"},
}

// TestChoicesOfOneVersion: a container has one choice for each version, the last one.
func TestChoicesOfOneVersion(t *testing.T) {
	ctx := context.Background()
	s := open(t, filepath.Join(t.TempDir(), "store.db"))
	whole := policy.Choice{Subject: "local/web", Kind: policy.Snooze, Actor: "ben", At: sdk.TimeOf(start.Add(seconds(1))), Until: sdk.TimeOf(start.Add(seconds(99)))}
	approved := webChoice
	approved.Kind, approved.At = policy.Approved, sdk.TimeOf(start.Add(seconds(2)))
	approved.Update.FromTag = "1.24.0" // it ran another version by then
	other := webChoice
	other.Subject = "local/db"
	other.Update.Subject = "local/db"
	for _, c := range []policy.Choice{webChoice, whole, approved, other} {
		must(t, s.PutChoice(ctx, c, event.Event{At: start, Type: event.ChoiceMade, Subject: c.Subject}))
	}
	got, err := s.Choices(ctx)
	must(t, err)
	if want := []policy.Choice{other, whole, approved}; !reflect.DeepEqual(got, want) {
		t.Errorf("choices %+v\nwant %+v", got, want)
	}
	must(t, s.DeleteChoices(ctx, "local/web", event.Event{At: start, Type: event.ChoiceUndone, Subject: "local/web"}))
	if got, err = s.Choices(ctx); err != nil || !reflect.DeepEqual(got, []policy.Choice{other}) {
		t.Errorf("choices %+v, %v", got, err)
	}
	if events, err := s.Events(ctx, 0, 100); err != nil || len(events) != 5 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// TestPruneKeepsChoices of containers that exist, and those that have not ended.
func TestPruneKeepsChoices(t *testing.T) {
	ctx := context.Background()
	s := open(t, filepath.Join(t.TempDir(), "store.db"))
	gone := policy.Choice{Subject: "local/gone", Kind: policy.Snooze, Actor: "ana", At: sdk.TimeOf(start), Until: sdk.TimeOf(start.Add(seconds(50)))}
	must(t, s.PutChoice(ctx, gone))
	must(t, s.Prune(ctx, start.Add(seconds(40))))
	if got, _ := s.Choices(ctx); len(got) != 1 {
		t.Errorf("choices that have not ended: %+v", got)
	}
	must(t, s.Prune(ctx, start.Add(seconds(60))))
	if got, _ := s.Choices(ctx); len(got) != 0 {
		t.Errorf("choices that have ended, of no container: %+v", got)
	}
}
