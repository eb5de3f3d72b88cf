package history

import (
	"net/url"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// eventRow is an event in words.
type eventRow struct {
	ID      int64
	At      time.Time
	Subject phrase.Phrase
	// Full is the subject of a container as the API has it; "" for any other.
	Full string
	// Path is the page of its subject; "" when there is none.
	Path string
	// About is what a trigger was run for, when that is known.
	About    phrase.Phrase
	Sentence phrase.Phrase
	Class    string
	// Each is the query of the page of all events of its run, "" for a single event.
	Each string
}

// newEventRow says an event in words; deliveries are those that events are about, by id.
func newEventRow(e event.Event, deliveries map[int64]delivery.Delivery, names page.Names) eventRow {
	row := eventRow{ID: e.ID, At: e.At, Subject: phrase.Verbatim(e.Subject), Path: subjectPath(e)}
	if e.Check != nil {
		brief := *e.Check
		brief.Took = "" // an event has two lines on a phone
		e.Check = &brief
	}
	row.Sentence, row.Class = words.Event(e)
	if e.Container != nil || e.Operation != nil || e.Choice != nil {
		gone := ""
		if e.Container != nil {
			gone = words.Name(e.Container)
		}
		row.Full, row.Subject = e.Subject, phrase.Verbatim(names.Of(e.Subject, gone))
	}
	if e.Delivery != nil {
		if d, known := deliveries[e.Delivery.ID]; known {
			name := names.Of(d.Subject, "")
			if !strings.Contains(" "+e.Delivery.Title+" ", " "+name+" ") || d.Manual { // whose message names it
				row.About = words.Delivery(d, name)
			}
		} else if e.Delivery.Manual || e.Delivery.ID == 0 { // 0 is from before manual runs were deliveries
			row.About = phrase.New("asked for by hand")
		}
	}
	return row
}

// deliveryPath is the page of what a delivery is about.
func deliveryPath(d delivery.Delivery) string {
	watcher, name, _ := strings.Cut(d.Subject, "/")
	switch {
	case d.Subject == "summary":
		return "/containers?state=updates"
	case d.Batch:
		return "/containers?watcher=" + url.QueryEscape(name)
	case d.Manual && (watcher == "" || name == ""): // a test with a made-up container
		return "/containers"
	}
	return "/containers/" + url.PathEscape(watcher) + "/" + url.PathEscape(name)
}

func subjectPath(e event.Event) string {
	kind, _, _ := strings.Cut(string(e.Type), ".")
	switch {
	case e.Container != nil && e.Type != event.ContainerRemoved:
		return "/containers/" + url.PathEscape(e.Container.Watcher) + "/" + url.PathEscape(e.Container.Name)
	case e.Choice != nil:
		watcher, name, _ := strings.Cut(e.Subject, "/")
		return page.ContainerPath(watcher, name)
	case kind == "operation":
		return page.OperationPath(e.Operation.ID)
	case kind == "trigger":
		typ, name, ok := strings.Cut(e.Subject, ".")
		if ok {
			return "/triggers/" + url.PathEscape(typ) + "/" + url.PathEscape(name)
		}
	case kind == "plugin":
		return "/plugins#" + url.PathEscape(e.Subject)
	case kind == "check" || kind == "watcher":
		return "/watchers"
	case e.Type == event.SettingChanged && strings.HasPrefix(e.Subject, "plugin "):
		return "/plugins"
	case e.Type == event.SettingChanged:
		return "/settings"
	}
	return ""
}
