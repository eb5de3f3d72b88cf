package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk"
)

// at is an event n minutes before noon, whose id falls with n.
func at(n int, t event.Type, subject, check string, p event.Payload) event.Event {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)
	return event.Event{
		ID: int64(1000 - n), At: noon.Add(-time.Duration(n) * time.Minute), Type: t, Subject: subject, Run: check, Payload: p,
	}
}

func checked(n int, watcher string, c event.Check) event.Event {
	t := event.CheckFinished
	if c.Error != "" {
		t = event.CheckFailed
	}
	return at(n, t, watcher, fmt.Sprint("run", n), event.Payload{Check: &c})
}

func chose(n int, name string) event.Event {
	return at(n, event.ChoiceMade, "local/"+name, "", event.Payload{
		Choice: &event.Choice{Action: "snooze", Version: "2.0", Actor: "ann"},
	})
}

// decided is what became of the update of a container, for a reason.
func decided(n int, name, code string) event.Event {
	e := container(n, event.ContainerChanged, name, "")
	e.Aspect = event.Decided
	e.Container.Decision = &sdk.Decision{State: sdk.StateHeld, Reasons: []sdk.Reason{{Code: code, Text: "too new"}}}
	return e
}

func container(n int, t event.Type, name, check string) event.Event {
	return at(n, t, "local/"+name, check, event.Payload{Container: &sdk.Container{Watcher: "local", Name: name}})
}

// said are the rows of events: "subject: sentence (class)".
func said(events []event.Event) []string {
	rows := []string{}
	for _, r := range fold(events) {
		row := newEventRow(r.newest(), nil, page.Names{})
		if len(r.events) > 1 {
			row = r.row(row, func(t time.Time) phrase.Phrase { return phrase.Time("15:04", t) })
		}
		text := row.Subject.String() + ": " + row.Sentence.String()
		if row.Class != "" {
			text += " (" + row.Class + ")"
		}
		rows = append(rows, text)
	}
	return rows
}

func TestFold(t *testing.T) {
	up := event.Payload{Plugin: &event.Plugin{}}
	for name, c := range map[string]struct {
		events []event.Event
		want   []string
	}{
		"none": {nil, []string{}},
		"checks that found nothing new": {
			[]event.Event{checked(1, "local", event.Check{}), checked(2, "local", event.Check{Error: "gone"}),
				checked(3, "local", event.Check{Failed: 1})},
			[]string{"local: 3 checks since 11:57, 1 failed, 1 with containers that could not be checked (failed)"},
		},
		"checks of two watchers in turn": {
			[]event.Event{checked(1, "local", event.Check{}), checked(2, "nas", event.Check{})},
			[]string{"2 watchers: 2 checks since 11:58"},
		},
		"a check that found something, between others": {
			[]event.Event{checked(1, "local", event.Check{Failed: 1}), checked(2, "local", event.Check{Failed: 2}),
				checked(3, "local", event.Check{Containers: 2, Updates: []string{"a"}, Found: []string{"a"}}),
				checked(4, "local", event.Check{})},
			[]string{"local: 2 checks since 11:58, 2 with containers that could not be checked (partly)",
				"local: checked 2 containers: 1 update (1 new)",
				"local: checked no containers"},
		},
		"checks of one container": {
			[]event.Event{checked(1, "local", event.Check{Single: true}), checked(2, "local", event.Check{})},
			[]string{"local: one container checked: nothing newer",
				"local: checked no containers"},
		},
		"the first start": {
			[]event.Event{
				at(0, event.TriggerSent, "smtp.main", "r", event.Payload{Delivery: &event.Delivery{ID: 1}}),
				at(1, event.CheckFinished, "local", "r", event.Payload{Check: &event.Check{Found: []string{"a"}}}),
				container(1, event.ContainerChanged, "web", "r"),
				container(2, event.UpdateFound, "web", "r"), container(3, event.ContainerAdded, "db", "r"),
				container(3, event.ContainerAdded, "web", "r"), at(4, event.PluginUp, "watchers", "", up)},
			[]string{"smtp.main: sent (ok)", "local: 2 containers found, 1 with an update", "watchers: started"},
		},
		"the first start, with a failure in between": {
			[]event.Event{
				container(2, event.UpdateFound, "web", "r"), container(2, event.UpdateFound, "db", "r"),
				at(3, event.PluginUp, "watchers", "", up),
				container(4, event.ContainerAdded, "db", "r"), container(4, event.ContainerAdded, "web", "r")},
			[]string{"local: 2 updates found", "watchers: started", "local: 2 containers found"},
		},
		"one more container later": {
			[]event.Event{container(2, event.UpdateFound, "web", "r"), container(3, event.ContainerAdded, "web", "r")},
			[]string{"web: update found:  →  (not checked) (muted)", "web: found, running "},
		},
		"the same change of several": {
			[]event.Event{container(1, event.ContainerChanged, "web", "r"), container(2, event.ContainerChanged, "db", "r")},
			[]string{"2 containers: changed"},
		},
		"a failed check, and its engine": {
			[]event.Event{checked(1, "local", event.Check{Error: "gone"}),
				at(2, event.WatcherFailed, "local", "", event.Payload{Watcher: &event.Outage{Error: "gone"}}),
				at(3, event.WatcherFailed, "nas", "", event.Payload{Watcher: &event.Outage{Error: "gone"}})},
			[]string{"local: check failed: gone (failed)", "nas: engine does not work: gone (failed)"},
		},
		"the same event again": {
			[]event.Event{at(1, event.PluginUp, "watchers", "", up), at(2, event.PluginUp, "watchers", "", up),
				at(3, event.PluginUp, "triggers", "", up)},
			[]string{"2 plugins: started"},
		},
		"a choice, and what follows from it": {
			[]event.Event{decided(1, "web", policy.ReasonSnoozed), chose(1, "web"), decided(2, "web", policy.ReasonMinAge),
				chose(2, "web"), decided(3, "db", policy.ReasonSkipped), chose(3, "web")},
			[]string{"web: 2.0 snoozed by ann", "web: the update is held: too new", "web: 2.0 snoozed by ann",
				"db: the update is held: too new", "web: 2.0 snoozed by ann"},
		},
		"deliveries": {
			[]event.Event{at(1, event.TriggerSent, "smtp.main", "", event.Payload{Delivery: &event.Delivery{ID: 2}}),
				at(2, event.TriggerSent, "smtp.main", "", event.Payload{Delivery: &event.Delivery{ID: 1}})},
			[]string{"smtp.main: sent (ok)", "smtp.main: sent (ok)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := said(c.events); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestFoldKeepsEveryEvent: what is folded is in one row, in its order.
func TestFoldKeepsEveryEvent(t *testing.T) {
	var events []event.Event
	for n := range 200 {
		events = append(events, checked(n, []string{"local", "nas"}[n%2], event.Check{Single: n%7 == 0, Failed: n % 3}))
	}
	var kept []event.Event
	for _, r := range fold(events) {
		kept = append(kept, r.events...)
	}
	if !slices.EqualFunc(kept, events, func(a, b event.Event) bool { return a.ID == b.ID }) {
		t.Errorf("%d events are %d in rows, or in another order", len(events), len(kept))
	}
}
