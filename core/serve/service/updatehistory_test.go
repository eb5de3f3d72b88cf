package service

import (
	"context"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/sdk"
)

// countingStore counts the changes that are read.
type countingStore struct {
	Store
	read int
}

func (c *countingStore) Changes(ctx context.Context, after int64, limit int) ([]history.Change, error) {
	found, err := c.Store.Changes(ctx, after, limit)
	c.read += len(found)
	return found, err
}

// TestUpdateHistoryReadsEachEventOnce while containers fall behind and catch up.
func TestUpdateHistoryReadsEachEventOnce(t *testing.T) {
	var counting countingStore
	s, stored := newService(t, func(o *Options) {
		counting.Store = o.Store
		o.Store = &counting
	})
	now := time.Now()
	become := func(at time.Time, typ event.Type, kind string) {
		c := sdk.Container{
			ID: "c1", Watcher: "local", Name: "web", UpdateAvailable: kind != "",
			UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, SemverDiff: kind},
		}
		if err := stored.Commit(t.Context(), event.Change{
			Put:    []sdk.Container{c},
			Events: []event.Event{{At: at, Type: typ, Subject: "local/web", Payload: event.Payload{Container: &c}}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	today := func() history.Day {
		t.Helper()
		days, err := s.UpdateHistory(t.Context())
		if err != nil || len(days) == 0 {
			t.Fatalf("%d days (%v)", len(days), err)
		}
		return days[len(days)-1]
	}
	if d := today(); d.Updates != 0 {
		t.Errorf("an empty store has %+v", d)
	}
	become(now.AddDate(0, 0, -20), event.ContainerAdded, "")
	become(now.AddDate(0, 0, -10), event.UpdateFound, sdk.DiffMinor)
	if d := today(); d.Minor != 1 || d.Age.Month != 1 {
		t.Errorf("after an update was found, today is %+v", d)
	}
	become(now, event.UpdateCleared, "")
	for range 3 {
		if d := today(); d.Updates != 0 {
			t.Errorf("after it was installed, today is %+v", d)
		}
	}
	if days, err := s.UpdateHistory(t.Context()); err != nil || len(days) != 21 || counting.read != 3 {
		t.Errorf("%d days, %d changes were read of 3 (%v)", len(days), counting.read, err)
	}
}
