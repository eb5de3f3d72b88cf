package dispatch

import (
	"cmp"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// outages plans what triggers are told of engines that cannot be reached, and can again. For one outage there is
// one delivery of each type, however often it is planned.
type outages struct{}

func (outages) plan(t Trigger, e event.Event) []delivery.Delivery {
	if !t.Outages || e.Watcher == nil || e.Type != event.WatcherFailed && e.Type != event.WatcherRecovered {
		return nil
	}
	about := trigger.Event{
		Type: string(e.Type), Watcher: e.Subject, Error: e.Watcher.Error, Since: sdk.TimeOf(e.Watcher.Since),
		At: sdk.TimeOf(e.At),
	}
	return []delivery.Delivery{
		newEventDelivery(t, e, "watcher/"+e.Subject, hash(string(e.Type), about.Since.String()), about),
	}
}

// outageMessage returns title and body of a message about an outage.
func outageMessage(e trigger.Event) (title, body string) {
	since := e.Since.UTC().Format("2006-01-02 15:04 UTC")
	if e.Type == trigger.WatcherRecovered {
		lasted := e.At.Sub(e.Since.Time).Round(time.Second)
		return fmt.Sprintf("Watcher %s reaches its engine again", e.Watcher),
			fmt.Sprintf("It could not since %s, for %s. Its containers are checked again.", since, lasted)
	}
	return fmt.Sprintf("Watcher %s cannot reach its engine", e.Watcher),
		fmt.Sprintf("%s\nSince %s. Until it answers, its containers are not checked.",
			cmp.Or(e.Error, "It does not answer."), since)
}
