package store

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/core/event"
)

func TestHistory(t *testing.T) {
	s := fresh(t)
	var change event.Change
	for i, e := range []event.Event{
		{Type: event.CheckFinished, Subject: "local"},
		{Type: event.UpdateFound, Subject: "local/nginx"},
		{Type: event.UpdateFound, Subject: "local2/nginx"},
		{Type: event.TriggerSent, Subject: "smtp.main"},
		{Type: event.UpdateFound, Subject: "local/Per%cent_"},
		{Type: event.CheckFinished, Subject: "local2"},
	} {
		e.At = start.Add(seconds(i))
		change.Events = append(change.Events, e)
	}
	must(t, s.Commit(context.Background(), change))
	for _, c := range []struct {
		name   string
		filter event.Filter
		want   []int64
	}{
		{"all", event.Filter{}, []int64{6, 5, 4, 3, 2, 1}},
		{"limit", event.Filter{Limit: 2}, []int64{6, 5}},
		{"page", event.Filter{Limit: 2, Before: 5}, []int64{4, 3}},
		{"types", event.Filter{Types: []event.Type{event.CheckFinished, event.TriggerSent}}, []int64{6, 4, 1}},
		{"subject", event.Filter{Subject: "local/nginx"}, []int64{2}},
		{"watcher", event.Filter{Watcher: "local"}, []int64{5, 2, 1}},
		{"watcher and type", event.Filter{Watcher: "local2", Types: []event.Type{event.UpdateFound}}, []int64{3}},
		{"text", event.Filter{Text: "NGINX"}, []int64{3, 2}},
		{"wildcards are letters", event.Filter{Text: "per%cent_"}, []int64{5}},
		{"no wildcards", event.Filter{Text: "%"}, []int64{5}},
		{"since", event.Filter{Since: start.Add(seconds(4))}, []int64{6, 5}},
		{"until", event.Filter{Until: start.Add(seconds(2))}, []int64{2, 1}},
		{"nothing", event.Filter{Subject: "x' OR 1=1 --"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := s.History(context.Background(), c.filter)
			must(t, err)
			var ids []int64
			for _, e := range found {
				ids = append(ids, e.ID)
			}
			if !slices.Equal(ids, c.want) {
				t.Errorf("got %v, want %v", ids, c.want)
			}
		})
	}
}

func BenchmarkHistoryWithoutAMatch(b *testing.B) {
	s := fresh(b)
	for range 100 {
		var change event.Change
		for i := range 1000 {
			c := event.Event{Type: event.CheckFinished, Subject: fmt.Sprintf("watcher%d", i)}
			change.Events = append(change.Events, c)
		}
		must(b, s.Commit(context.Background(), change))
	}
	for b.Loop() {
		if _, err := s.History(context.Background(), event.Filter{Text: "nothing"}); err != nil {
			b.Fatal(err)
		}
	}
}
