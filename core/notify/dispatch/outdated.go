package dispatch

import (
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// outdated plans what triggers are told of newer versions of plugins. There is one delivery
// for each version, however often it is found.
type outdated struct{}

func (outdated) plan(t Trigger, e event.Event) []delivery.Delivery {
	p := e.Plugin
	if !t.Plugins || t.Operates || p == nil || e.Type != event.PluginOutdated {
		return nil
	}
	about := trigger.Event{
		Type: trigger.PluginOutdated, Plugin: e.Subject, From: p.From, To: p.To, At: sdk.TimeOf(e.At),
	}
	return []delivery.Delivery{
		newEventDelivery(t, e, "plugin/"+e.Subject, hash(string(e.Type), p.To, p.Digest), about),
	}
}

// outdatedMessage returns title and body of a message about a newer version of a plugin.
func outdatedMessage(e trigger.Event) (title, body string) {
	what := "From " + e.From + " to " + e.To
	if e.From == e.To {
		what = "Another artifact is under " + e.To + " now"
	}
	return fmt.Sprintf("A newer version of plugin %s is available", e.Plugin),
		fmt.Sprintf("%s.\nTo install it, run dogwatch plugin update %s; if plugins.install names it, write it there.",
			what, e.Plugin)
}
