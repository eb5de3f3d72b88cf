package web

import (
	"html"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestStartPage(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents = fakeComponents{
			all: []service.Component{webtest.Configured(kind.Watcher, "docker", "local", component.Ready)},
		}
		f.fakeHistory = fakeHistory{events: []event.Event{{ID: 1, At: webtest.Noon, Type: event.CheckFailed, Subject: "local",
			Payload: event.Payload{
				Check: &event.Check{Watcher: "local", Error: "dial unix /var/run/docker.sock: permission denied"},
			}}}}
	})
	_, body := get(t, u, "/start")
	webtest.Contains(t, body, "Docker cannot be reached", "permission denied",
		"/run/user/1000/docker.sock:/var/run/docker.sock:ro", "<code>stat -c %g /var/run/docker.sock</code>", "group_add", "dogwatch:latest demo")
}

// TestStartPageIsDone says that all is set up only where nothing that is configured has failed.
func TestStartPageIsDone(t *testing.T) {
	for state, want := range map[component.State]string{
		component.Ready:  "Everything is set up: containers are watched",
		component.Failed: "part of the configuration does not work",
	} {
		u, _ := withStore(t, webtest.Container("web"))
		fakes(u).fakeComponents = fakeComponents{all: []service.Component{
			webtest.Configured(kind.Watcher, "docker", "local", component.Ready),
			webtest.Configured(kind.Trigger, "smtp", "main", state),
		}}
		fakes(u).fakeHistory = fakeHistory{events: []event.Event{{ID: 1, At: webtest.Noon, Type: event.CheckFinished,
			Subject: "local", Payload: event.Payload{Check: &event.Check{Watcher: "local"}}}}}
		_, body := get(t, u, "/start")
		webtest.Contains(t, body, want)
	}
}

// TestEmptyListsSayWhatTheOverviewSays: every page with nothing in its list has the sentence of the overview and
// what to do next, in whichever state the installation is.
func TestEmptyListsSayWhatTheOverviewSays(t *testing.T) {
	ready := webtest.Configured(kind.Watcher, "docker", "local", component.Ready)
	down := webtest.Configured(kind.Watcher, "docker", "nas", component.Failed)
	down.Error = "permission denied"
	checked := func(err string) []event.Event {
		of := event.Payload{Check: &event.Check{Watcher: "local", Error: err}}
		return []event.Event{{ID: 1, At: webtest.Noon, Type: event.CheckFailed, Subject: "local", Payload: of}}
	}
	one, web := []service.Component{ready}, []sdk.Container{webtest.Container("web")}
	every := []string{"/deliveries", "/operations", "/policies", "/plugins", "/registries"}
	for name, test := range map[string]struct {
		components []service.Component
		containers []sdk.Container
		events     []event.Event
		pages      []string
		want       []string
	}{
		"nothing at all": {nil, nil, nil, append(every, "/containers", "/watchers", "/triggers", "/history"),
			[]string{"Nothing to watch yet", "No watcher is configured.", "group_add", "To look around with simulated containers"}},
		"an engine that fails": {[]service.Component{down}, nil, nil, append(every, "/containers", "/triggers", "/history"),
			[]string{"Docker cannot be reached", "group_add", "permission denied"}},
		"an engine that failed": {one, nil, checked("connection refused"), append(every, "/containers", "/triggers"),
			[]string{"Docker cannot be reached", "connection refused"}},
		"before the first check": {one, nil, nil, append(every, "/containers", "/triggers", "/history"),
			[]string{"Looking for containers", "The first check is under way."}},
		"an engine without containers": {one, nil, checked(""), append(every, "/containers", "/triggers"),
			[]string{"No containers", "docker run -d --name web nginx:1.25"}},
		"no trigger": {one, web, checked(""), append(every, "/triggers", "/history"),
			[]string{"No notifications configured", "Updates show on these pages only."}},
		"nothing missing": {append(one, webtest.SMTP()), append(web, webtest.Container("db", webtest.Failed("no such image"))), checked(""), every,
			[]string{"1 failed · 1 up to date"}},
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := withStore(t, test.containers...)
			f := fakes(u)
			f.fakeComponents, f.fakeHistory = fakeComponents{all: test.components}, fakeHistory{events: test.events}
			for _, path := range append(test.pages, "/") {
				if path == "/history" && test.events != nil {
					continue // it has something
				}
				_, body := get(t, u, path)
				text := html.UnescapeString(body)
				for _, want := range test.want {
					if !strings.Contains(text, want) {
						t.Errorf("%s does not say %q", path, want)
					}
				}
				if n := strings.Count(text, "permission denied"); path == "/" && n > 1 {
					t.Errorf("the overview says %d times why the engine cannot be reached", n)
				}
			}
		})
	}
}
