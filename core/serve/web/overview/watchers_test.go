package overview

import (
	"reflect"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestWatchersOfLastCheckAndProgress(t *testing.T) {
	at := func(n int) time.Time { return webtest.Noon.Add(time.Duration(n) * time.Minute) }
	events := []event.Event{
		{At: at(9), Type: event.CheckStarted, Payload: event.Payload{Check: &event.Check{Watcher: "busy"}}},
		{At: at(8), Type: event.CheckFinished, Payload: event.Payload{Check: &event.Check{Watcher: "idle", Containers: 3}}},
		{At: at(7), Type: event.CheckStarted, Payload: event.Payload{Check: &event.Check{Watcher: "idle"}}},
		{
			At: at(6), Type: event.CheckFailed, Payload: event.Payload{Check: &event.Check{Watcher: "busy", Error: "no socket"}},
		},
		{At: at(1), Type: event.CheckStarted, Payload: event.Payload{Check: &event.Check{Watcher: "killed"}}},
	}
	var watchers []service.Component
	for _, name := range []string{"busy", "idle", "killed"} {
		watchers = append(watchers, webtest.Configured(kind.Watcher, "docker", name, component.Ready))
	}
	got := watchersOf(watchers, events, at(5),
		[]check.Progress{{Watcher: "busy", Checked: 2, Total: 3}}, func(string) time.Time { return at(20) })
	want := []watcherLine{
		{Name: "busy", Running: true, Progress: check.Progress{Watcher: "busy", Checked: 2, Total: 3}, Last: at(6),
			Words: words.Down(), Bad: true, Next: at(20)},
		{Name: "idle", Progress: check.Progress{Watcher: "idle"}, Last: at(8), Words: phrase.Count(3, "container"), Next: at(20)},
		{Name: "killed", Progress: check.Progress{Watcher: "killed"}, Words: phrase.New("not checked yet"), Next: at(20)},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
