package dispatch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func ofOutages(t *Trigger) { t.Outages = true }

// outage commits an event about the engine of the watcher "local".
func (b *bench) outage(typ event.Type, since time.Time) {
	b.t.Helper()
	b.commit(nil, event.Event{
		Type: typ, At: time.Now(), Subject: "local",
		Payload: event.Payload{Watcher: &event.Outage{Since: since, Error: "connect: refused"}},
	})
}

func TestOutageNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		configured, mail := simple(t, "smtp.configured", ofOutages, batch)
		manual, only := simple(t, "ntfy.only", ofOutages, func(t *Trigger) { t.Auto = false })
		other, nothing := simple(t, "http.other", always)
		b := open(t, configured, manual, other)
		defer b.stop()
		began := time.Now()
		settle(time.Minute)
		b.outage(event.WatcherFailed, began)
		b.outage(event.WatcherFailed, began) // the same, as if a process had been killed after it was stored
		settle(time.Second)
		settle(59 * time.Minute)
		b.outage(event.WatcherRecovered, began)
		settle(time.Second)
		for _, s := range []*sink{mail, only} {
			if len(s.got) != 2 {
				t.Fatalf("%d messages: %+v", len(s.got), s.got)
			}
			first, second := s.got[0], s.got[1]
			if first.Title != "Watcher local cannot reach its engine" ||
				!strings.Contains(first.Body, "connect: refused\nSince 2000-01-01 00:00 UTC.") {
				t.Errorf("%q, %q", first.Title, first.Body)
			}
			if second.Title != "Watcher local reaches its engine again" || !strings.Contains(second.Body, "for 1h0m1s") {
				t.Errorf("%q, %q", second.Title, second.Body)
			}
			if e := first.Event; e == nil || e.Type != trigger.WatcherFailed || e.Watcher != "local" ||
				!e.Since.Equal(began) || !first.Batch || len(first.Containers) != 0 {
				t.Errorf("%+v", first)
			}
			if first.Delivery == second.Delivery || first.Delivery == "" {
				t.Errorf("deliveries %q and %q", first.Delivery, second.Delivery)
			}
		}
		if len(nothing.got) != 0 {
			t.Errorf("a trigger without outages: %+v", nothing.got)
		}
		equal(t, "states", b.states("smtp.configured"), []string{"watcher/local sent", "watcher/local sent"})
	})
}

func TestOutageNotificationRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, s := simple(t, "smtp.main", ofOutages)
		s.respond(func(_ context.Context, n int, _ trigger.Request) error {
			if n < 3 {
				return sdk.WithKind(sdk.ErrUnavailable, errors.New("the mail server is away, too"))
			}
			return nil
		})
		b := open(t, tr)
		b.outage(event.WatcherFailed, time.Now())
		settle(time.Second)
		b.stop()
		b.start(nil) // over the same store
		defer b.stop()
		settle(time.Hour)
		if len(s.got) != 3 || s.got[2].Event == nil || s.got[2].Delivery != s.got[0].Delivery {
			t.Errorf("%d attempts: %+v", len(s.got), s.got)
		}
		equal(t, "states", b.states("smtp.main"), []string{"watcher/local sent"})
	})
}
