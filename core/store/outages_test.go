package store

import (
	"context"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
)

func TestOutagesFromEvents(t *testing.T) {
	s := fresh(t)
	watcher := func(subject string, typ event.Type, n int) event.Event {
		return event.Event{
			At: start.Add(seconds(n)), Type: typ, Subject: subject,
			Payload: event.Payload{Watcher: &event.Outage{Since: start.Add(seconds(n))}},
		}
	}
	must(t, s.Commit(context.Background(), event.Change{Events: []event.Event{
		watcher("a", event.WatcherFailed, 1), watcher("b", event.WatcherFailed, 2), watcher("a", event.WatcherRecovered, 3),
		watcher("a", event.WatcherFailed, 4), watcher("b", event.WatcherRecovered, 5),
		{At: start, Type: event.CheckFailed, Subject: "c"},
	}}))
	found, err := s.Outages(context.Background())
	must(t, err)
	last := map[string]event.Event{}
	for _, e := range found {
		last[e.Subject] = e
	}
	if len(found) != 2 || last["a"].Type != event.WatcherFailed ||
		!last["a"].Watcher.Since.Equal(start.Add(seconds(4))) || last["b"].Type != event.WatcherRecovered {
		t.Errorf("%+v", found)
	}
}
