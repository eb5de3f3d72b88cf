package history

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// topic is a group of event types that users look for in one place.
type topic struct {
	Name  string
	Label phrase.Phrase
	types []event.Type
}

// failures is the topic of what went wrong, which is part of the others, too.
const failures = "failures"

var topics = []topic{
	{"", phrase.New("Everything"), nil},
	{"updates", phrase.New("Updates"), []event.Type{event.UpdateFound, event.UpdateCleared}},
	{"checks", phrase.New("Checks"),
		[]event.Type{event.CheckFinished, event.CheckFailed, event.WatcherFailed, event.WatcherRecovered}},
	{"choices", phrase.New("Choices"), []event.Type{event.ChoiceMade, event.ChoiceUndone}},
	{"scans", phrase.New("Scans"), []event.Type{event.ScanFinished}},
	{"containers", phrase.New("Containers"),
		[]event.Type{event.ContainerAdded, event.ContainerReplaced, event.ContainerRenamed, event.ContainerChanged,
			event.ContainerRemoved}},
	{"operations", phrase.New("Operations"),
		[]event.Type{event.OperationStarted, event.OperationSucceeded, event.OperationRolledBack, event.OperationFailed,
			event.OperationCancelled}},
	{"deliveries", phrase.New("Deliveries"), []event.Type{event.TriggerSent, event.TriggerFailed, event.TriggerSkipped}},
	{"plugins", phrase.New("Plugins"), []event.Type{event.PluginUp, event.PluginDown, event.PluginBroken, event.PluginOutdated}},
	{"logins", phrase.New("Logins"),
		[]event.Type{event.LoginSucceeded, event.LoginFailed, event.LoggedOut, event.TokenCreated, event.TokenRevoked}},
	{"settings", phrase.New("Settings"), []event.Type{event.SettingChanged}},
	{failures, phrase.New("Failures"),
		[]event.Type{event.CheckFailed, event.WatcherFailed, event.TriggerFailed, event.OperationRolledBack,
			event.OperationFailed, event.PluginDown, event.PluginBroken, event.LoginFailed}},
}

// historyQuery is what the URL selects of the history; every field is as it was written there. Each is "" where runs of
// like events are one row.
type historyQuery struct {
	Topic, Watcher, Trigger, Text, Since, Until, Each, before string
}

// dayForm is how a date field of a form writes a day.
const dayForm = time.DateOnly

// parseHistory reads the query of a URL. What is not understood is named in
// wrong and ignored.
func parseHistory(values url.Values, loc *time.Location) (q historyQuery, f event.Filter, wrong []phrase.Phrase) {
	get := func(key string) string { return strings.TrimSpace(values.Get(key)) }
	q = historyQuery{
		Topic: get("topic"), Watcher: get("watcher"), Trigger: get("trigger"), Text: get("q"), Since: get("since"),
		Until: get("until"), Each: get("each"),
	}
	f = event.Filter{SkipReleased: true, Watcher: q.Watcher, Text: q.Text}
	i := slices.IndexFunc(topics, func(t topic) bool { return t.Name == q.Topic })
	if i < 0 {
		wrong = append(wrong, phrase.New("There is no kind of event %q: all are shown.", q.Topic))
		q.Topic, i = "", 0
	}
	f.Types = topics[i].types
	switch {
	case q.Trigger != "":
		// A trigger's id may be the name of something else, too.
		f.Subject, f.Watcher = q.Trigger, ""
		f.Types = within(f.Types, event.TriggerSent, event.TriggerFailed, event.TriggerSkipped)
	case q.Watcher != "":
		f.Types = within(f.Types, event.UpdateFound, event.UpdateCleared, event.CheckFinished, event.CheckFailed,
			event.WatcherFailed, event.WatcherRecovered,
			event.ContainerAdded, event.ContainerReplaced, event.ContainerRenamed, event.ContainerChanged,
			event.ContainerRemoved,
			event.OperationStarted, event.OperationSucceeded, event.OperationRolledBack, event.OperationFailed,
			event.OperationCancelled)
	case len(f.Types) == 0:
		// That a check began is only of interest until it ends.
		for _, t := range topics {
			if t.Name != failures {
				f.Types = append(f.Types, t.types...)
			}
		}
	}
	day := func(name phrase.Phrase, text string) time.Time {
		t, err := time.ParseInLocation(dayForm, text, loc)
		if text != "" && err != nil {
			wrong = append(wrong, phrase.New("%q is no day of the form 2026-01-31: %s is ignored.", text, name))
		}
		return t
	}
	f.Since = day(phrase.New("the first day"), q.Since)
	if until := day(phrase.New("the last day"), q.Until); !until.IsZero() {
		f.Until = until.AddDate(0, 0, 1)
	}
	q.before, f.Before = beforeOf(values)
	return q, f, wrong
}

// beforeOf reads where a page starts; nonsense is the first page.
func beforeOf(values url.Values) (string, int64) {
	text := values.Get("before")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return "", 0
	}
	return text, n
}

// within returns those of types that are in allowed, all of allowed when there
// are none in types, and something that no event has when nothing is in both.
func within(types []event.Type, allowed ...event.Type) []event.Type {
	if len(types) == 0 {
		return allowed
	}
	both := slices.DeleteFunc(slices.Clone(types), func(t event.Type) bool { return !slices.Contains(allowed, t) })
	if len(both) == 0 {
		return []event.Type{"none"}
	}
	return both
}

// values writes a query as it stands in a URL, from before on.
func (q historyQuery) values(before string) string {
	return page.Query(map[string]string{
		"topic": q.Topic, "watcher": q.Watcher, "trigger": q.Trigger, "q": q.Text, "since": q.Since, "until": q.Until,
		"each": q.Each, "before": before,
	})
}
