package api

import (
	"fmt"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
)

func TestHistory(t *testing.T) {
	w := start(t, nil)
	same(t, "no events", string(w.get("/api/events").want(200).body), "[]")
	for i := range 5 {
		w.commitEvents(event.Event{
			Type: event.CheckFinished, Subject: "local", Run: fmt.Sprint("run", i),
			Payload: event.Payload{Check: &event.Check{Watcher: "local", Containers: i}},
		})
	}
	c := nginx()
	w.commitEvents(event.Event{Type: event.UpdateFound, Subject: event.Subject(c), Payload: event.Payload{Container: &c}})
	all := w.get("/api/events").want(200).list()
	same(t, "ids", ids(all), []int64{6, 5, 4, 3, 2, 1})
	same(t, "the type", all[0]["type"], any("update.found"))
	same(t, "its container", all[0]["container"].(map[string]any)["name"], any("nginx"))
	same(t, "a page", ids(w.get("/api/events?limit=2&before=4").want(200).list()), []int64{3, 2})
	w.get("/api/events?limit=1001").fails(400, "limit")
	w.get("/api/events?after=1").fails(400, "after")
}
