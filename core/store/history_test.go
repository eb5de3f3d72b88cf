package store

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
)

func TestHistoryFiltersEvents(t *testing.T) {
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
		{"text or name", event.Filter{Text: "local2", Named: []string{"local/nginx"}}, []int64{6, 3, 2}},
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

// TestPublicHistory leaves out what Private says, whatever else is asked for, and pages without gaps.
func TestPublicHistory(t *testing.T) {
	s := fresh(t)
	var change event.Change
	var public []event.Type
	for _, typ := range []event.Type{
		event.ContainerAdded, event.ContainerReplaced, event.ContainerChanged, event.ContainerRemoved,
		event.UpdateFound, event.UpdateCleared,
		event.CheckStarted, event.CheckFinished, event.CheckFailed, event.TriggerSent, event.TriggerFailed,
		event.TriggerSkipped,
		event.PluginUp, event.PluginDown, event.PluginBroken, event.LoginSucceeded, event.LoginFailed, event.LoggedOut,
		event.TokenCreated, event.TokenRevoked, event.SettingChanged, "auth.something.new", "author.renamed",
	} {
		change.Events = append(change.Events, event.Event{Type: typ, Subject: "x"})
		if !typ.Private() {
			public = append(public, typ)
		}
	}
	must(t, s.Commit(context.Background(), change))
	slices.Reverse(public)
	var got []event.Type
	filter := event.Filter{Public: true, Limit: 4, Subject: "x"}
	for {
		found, err := s.History(context.Background(), filter)
		must(t, err)
		for _, e := range found {
			got, filter.Before = append(got, e.Type), e.ID
		}
		if len(found) < filter.Limit {
			break
		}
	}
	if !slices.Equal(got, public) || len(public) != len(change.Events)-7 {
		t.Errorf("got %v, want %v", got, public)
	}
	if found, err := s.History(context.Background(), event.Filter{
		Public: true, Types: []event.Type{event.LoginFailed},
	}); err != nil || len(found) > 0 {
		t.Errorf("asked for logins: %v, %v", found, err)
	}
}

// TestHistoryLeavesOutReleaseDates leaves out that dates became known, and nothing else of containers.
func TestHistoryLeavesOutReleaseDates(t *testing.T) {
	s := fresh(t)
	must(t, s.Commit(t.Context(), event.Change{Events: []event.Event{
		{Type: event.ContainerChanged, Subject: "local/web", Payload: event.Payload{Aspect: event.Released}},
		{Type: event.ContainerChanged, Subject: "local/web"}, {Type: event.UpdateFound, Subject: "local/web"},
	}}))
	for filtered, want := range map[bool]int{true: 2, false: 3} {
		found, err := s.History(t.Context(), event.Filter{SkipReleased: filtered, Subject: "local/web"})
		if err != nil || len(found) != want {
			t.Errorf("without release dates %v: %d events, %v, want %d", filtered, len(found), err, want)
		}
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
