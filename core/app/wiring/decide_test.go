package wiring

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestDecisionsOfSubscribers(t *testing.T) {
	s, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "store.db"), store.Options{
		Log: hclog.NewNullLogger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	web := sdk.Container{ID: "1", Name: "web", Watcher: "local", UpdateAvailable: true, Image: sdk.Image{
		Tag: sdk.Tag{Value: "1.0.0"},
	},
		Result:     &sdk.Result{Tag: "1.1.0"},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0.0", RemoteValue: "1.1.0"}}
	fine := sdk.Container{ID: "2", Name: "fine", Watcher: "local"}
	if err := s.Commit(t.Context(), event.Change{Put: []sdk.Container{web, fine}}); err != nil {
		t.Fatal(err)
	}
	choices := choice.New(choice.Options{Store: s, Now: time.Now})
	decide := Decide(choices, Containers{Store: s}, time.Now)
	for _, c := range []struct{ id, action, wrong string }{
		{"1", "skip", ""}, {"1", "snooze", ""}, {"1", "explode", "explode"}, {"2", "skip", "no update"},
		{"3", "skip", "not found"},
	} {
		err := decide(t.Context(), "mqtt.main", c.id, c.action)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s %s: %v", c.action, c.id, err)
		}
	}
	all := choices.Of("local/web")
	if len(all) != 2 {
		t.Fatalf("choices %+v", all)
	}
	for _, c := range all {
		if c.Actor != "trigger mqtt.main" || c.Kind == "snooze" && time.Until(c.Until.Time) < 6*24*time.Hour ||
			c.Kind == "skip" && c.Version() != "1.1.0" {
			t.Errorf("choice %+v", c)
		}
	}
}
