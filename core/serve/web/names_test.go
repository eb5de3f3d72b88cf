package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestContainersHaveTheirDisplayNames(t *testing.T) {
	called := func(watcher, name string) func(*sdk.Container) {
		return func(c *sdk.Container) { c.Watcher, c.DisplayName = watcher, name }
	}
	u, _ := withStore(t, webtest.Container("cloud", called("local", "Nextcloud")),
		webtest.Container("media", called("local", "Films")), webtest.Container("video", called("attic", "Films")))
	subjects := []string{"local/cloud", "local/media", "attic/video", "local/gone", "attic/Films"}
	f := fakes(u)
	var asked []event.Filter
	f.fakeHistory.filters = &asked
	for i, subject := range subjects {
		watcher, name, _ := strings.Cut(subject, "/")
		f.fakeHistory.deliveries = append(f.fakeHistory.deliveries,
			delivery.Delivery{ID: int64(i + 1), Subject: subject, Trigger: "smtp.main", State: delivery.Sent, CreatedAt: webtest.Noon})
		f.fakeHistory.events = append(f.fakeHistory.events, event.Event{
			ID: int64(i + 1), At: webtest.Noon, Type: event.OperationFailed, Subject: subject,
			Payload: event.Payload{Operation: &event.Operation{ID: "1", Kind: "update"}},
		})
		f.fakeOperations.operations = append(f.fakeOperations.operations, operation.Operation{
			ID: fmt.Sprint(i), Kind: operation.Update, State: operation.Failed, Watcher: watcher, Name: name,
		})
	}
	for path, element := range map[string]string{"/history": "td", "/deliveries": "a", "/operations": "a"} {
		_, body := get(t, u, path)
		for subject, want := range map[string]string{
			"local/cloud": "Nextcloud", "local/media": "local/Films", "attic/video": "attic/Films", "local/gone": "gone",
			"attic/Films": "attic/Films",
		} {
			_, shown, found := strings.Cut(body, ` title="`+subject+`">`)
			shown, _, _ = strings.Cut(shown, "</"+element+">")
			if !found || !strings.Contains(">"+shown+"<", ">"+want+"<") {
				t.Errorf("%s shows %s as %q", path, subject, shown)
			}
		}
	}
	for _, path := range []string{"/history?q=nextc", "/history.csv?q=nextc"} {
		get(t, u, path)
		if got := asked[len(asked)-1].Named; len(got) != 1 || got[0] != "local/cloud" {
			t.Errorf("%s searches for %v", path, got)
		}
	}
}
