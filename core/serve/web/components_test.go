package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

func TestComponentListPages(t *testing.T) {
	local, nas, hub := webtest.Configured(kind.Watcher, "docker", "local", component.Ready),
		webtest.Configured(kind.Watcher, "docker", "nas", component.Failed),
		webtest.Configured(kind.Registry, "hub", "public", component.Pending)
	local.Default, local.Next, local.Settings = true, webtest.Noon.Add(12*time.Minute),
		[]service.Setting{{Name: "cron", Value: "0 * * * *", Source: "default"}}
	nas.Error, hub.Hosts = "docker.nas: 401 Unauthorized", []string{"a", "b", "c", "d", "e"}
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents = fakeComponents{all: []service.Component{local, nas, hub, webtest.SMTP()}}
		f.fakeHistory = fakeHistory{events: []event.Event{
			{
				ID: 9, At: webtest.Noon.Add(-time.Minute), Type: event.CheckFinished, Subject: "local",
				Payload: event.Payload{Check: &event.Check{Watcher: "local", Single: true}},
			},
			{
				ID: 8, At: webtest.Noon.Add(-time.Hour), Type: event.CheckFinished, Subject: "local",
				Payload: event.Payload{
					Check: &event.Check{Watcher: "local", Containers: 5, Updates: []string{"x"}, Failed: 2, Took: "3s"},
				},
			},
			{
				ID: 7, At: webtest.Noon.Add(-2 * time.Hour), Type: event.CheckFailed, Subject: "local",
				Payload: event.Payload{Check: &event.Check{Watcher: "local", Error: "older"}},
			},
		}}
	})
	_, body := get(t, u, "/watchers")
	webtest.Contains(t, body, "2 watchers, 1 failed", "built in", "in 12 min", "Checks every hour", "401 Unauthorized",
		"checked 5 containers: 1 update, 2 failed, took 3.0 s", "1 h ago", `href="/base/watchers/docker/local"`,
		`aria-current="page"`)
	if strings.Contains(body, "older") {
		t.Error("an older check is shown")
	}
	_, body = get(t, u, "/registries")
	webtest.Contains(t, body, "a, b, c", "and 2 more", "Starting")
	_, body = get(t, u, "/triggers")
	webtest.Contains(t, body, "smtp.main", "one message per container", "Ready")
}

// TestListSaysOnceWhyAWatcherFailed: the check that failed has the same cause.
func TestListSaysOnceWhyAWatcherFailed(t *testing.T) {
	nas := webtest.Configured(kind.Watcher, "docker", "nas", component.Failed)
	nas.Error = "the engine does not answer"
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents = fakeComponents{all: []service.Component{nas}}
		f.fakeHistory = fakeHistory{events: []event.Event{{
			ID: 7, At: webtest.Noon, Type: event.CheckFailed, Subject: "nas",
			Payload: event.Payload{Check: &event.Check{Watcher: "nas", Error: nas.Error}},
		}}}
	})
	if _, body := get(t, u, "/watchers"); strings.Count(body, nas.Error) != 1 {
		t.Errorf("it is said %d times", strings.Count(body, nas.Error))
	}
}

func TestWatcherPageOfUnreachableEngine(t *testing.T) {
	local := webtest.Configured(kind.Watcher, "docker", "local", component.Ready)
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents = fakeComponents{all: []service.Component{local}}
		f.fakeHistory = fakeHistory{events: []event.Event{
			{
				ID: 2, At: webtest.Noon, Type: event.CheckFailed, Subject: "local",
				Payload: event.Payload{Check: &event.Check{Watcher: "local", Error: "dial tcp: connection refused"}},
			},
			{
				ID: 1, At: webtest.Noon, Type: event.CheckFinished, Subject: "local",
				Payload: event.Payload{Check: &event.Check{Watcher: "local"}},
			},
		}}
	})
	_, body := get(t, u, "/watchers")
	webtest.Contains(t, body, "1 watcher, 1 failed", "Check failed", "connection refused")
	_, body = get(t, u, "/watchers/docker/local")
	webtest.Contains(t, body, "Check failed", "connection refused")
	local.State, local.Error, local.Remedy = component.Failed, "dial tcp: connection refused",
		"The other side does not answer."
	u = withFakes(t, func(f *fakeService) { f.fakeComponents = fakeComponents{all: []service.Component{local}} })
	_, body = get(t, u, "/watchers/docker/local")
	webtest.Contains(t, body, ">Cause<", "connection refused", "The other side does not answer.")
}

func TestTriggerPage(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents = fakeComponents{
			all:    []service.Component{webtest.SMTP()},
			result: service.TestResult{Result: testrun.Result{Title: "T1", Body: "B1"}, Took: 1234 * time.Millisecond},
		}
		f.fakeHistory = fakeHistory{deliveries: []delivery.Delivery{
			{
				ID: 3, Trigger: "smtp.main", Subject: "local/nginx", State: delivery.Failed, Attempts: 10,
				Error: "535 authentication failed", UpdatedAt: webtest.Noon,
			},
			{
				ID: 2, Trigger: "smtp.main", Subject: "local/db", State: delivery.Pending, Attempts: 2, Error: "421 try later",
				NextAt: webtest.Noon.Add(time.Minute), UpdatedAt: webtest.Noon,
			},
			{ID: 1, Trigger: "other.main", Subject: "local/not-mine", State: delivery.Sent, UpdatedAt: webtest.Noon},
		}}
	})
	_, body := get(t, u, "/triggers/smtp/main")
	if _, list := get(t, u, "/triggers"); !strings.Contains(list, "Not sending") || !strings.Contains(list, "421 try later") ||
		!strings.Contains(list, "1 trigger, 1 not sending") {
		t.Errorf("the triggers do not say that one cannot send:\n%s", list)
	}
	webtest.Contains(t, body, "Not sending", "Dogwatch tries again by itself.", "Send a test", "New tag found", "Container web can be updated", "mail.example.org",
		"1 option with its default",
		"given up after 10 attempts", "535 authentication failed", `action="/base/deliveries/3/retry"`,
		"2 attempts failed, to be tried again", `action="/base/deliveries/2/retry"`, ">Send now</button>",
		"DOGWATCH_TRIGGER_SMTP_MAIN_PASS__FILE", `href="/base/history?trigger=smtp.main"`,
		`href="/base/deliveries?trigger=smtp.main"`)
	if strings.Contains(body, "not-mine") {
		t.Errorf("another trigger's is shown:\n%s", body)
	}
	webtest.Contains(t, tested(t, u, "/triggers/smtp/main", nil), "The service took the message below (1.234s)", "T1", "B1",
		"</html>")
	failed := webtest.SMTP()
	failed.State, failed.Error = "failed", "host is missing"
	broken := withFakes(t, func(f *fakeService) { f.fakeComponents = fakeComponents{all: []service.Component{failed}} })
	_, body = get(t, broken, "/triggers/smtp/main")
	webtest.Contains(t, body, "It can be tested as soon as it has started.")
	if strings.Contains(body, "Send a test") {
		t.Error("a trigger that has not started can be tested")
	}
	if _, body = get(t, u, "/triggers/smtp/main"); strings.Contains(body, "The service took") {
		t.Error("a page without ?tested shows the result")
	}

	for backlog, says := range map[string]string{"summary": "first sends one message about all pending updates", "none": "leaves out",
		"each": "first runs for every pending update"} {
		mail := webtest.SMTP()
		mail.Backlog = backlog
		u := withFakes(t, func(f *fakeService) { f.fakeComponents = fakeComponents{all: []service.Component{mail}} })
		_, body := get(t, u, "/triggers/smtp/main")
		webtest.Contains(t, body, "This trigger "+says)
	}

	r := httptest.NewRequest(http.MethodPost, "/triggers/smtp/main/test", nil)
	r.Header.Set("HX-Request", "true")
	_, body = respond(t, u, r)
	if !strings.HasPrefix(strings.TrimSpace(body), `<div id="test-result"`) || strings.Contains(body, "<html") {
		t.Errorf("not the fragment: %s", body)
	}
}

func TestRegistryPage(t *testing.T) {
	var image string
	hub := webtest.Configured(kind.Registry, "hub", "public", component.Ready)
	hub.Hosts = []string{"docker.io"}
	window, paused, silent := webtest.Limit("docker.io", 100, 12), webtest.Limit("paused.example", 0, 0), webtest.Limit("silent.example", 0, 0)
	window.Window, paused.PausedUntil, silent.PausedUntil = 6*time.Hour, sdk.TimeOf(webtest.Noon.Add(time.Hour)),
		sdk.TimeOf(webtest.Noon.Add(-time.Hour))
	hub.Limits = []registry.Limit{window, paused, silent}
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents = fakeComponents{
			image: &image, failure: errors.New("hub.public: 401 Unauthorized"),
			result: service.TestResult{Remedy: "Check the login"}, all: []service.Component{hub},
		}
	})
	_, body := get(t, u, "/registries/hub/public")
	webtest.Contains(t, body, "12 of 100 requests left per 6 h", `low="20"`, `class="bad"`, "paused, goes on",
		"does not say what it allows", "All options have their defaults.")
	body = tested(t, u, "/registries/hub/public", url.Values{"image": {"nginx:1"}})
	webtest.Contains(t, body, "It does not work: hub.public: 401 Unauthorized", "Check the login", `value="nginx:1"`)
	if image != "nginx:1" {
		t.Errorf("tested with %q", image)
	}
}

// TestComponentSaysWhatIsMissing: a required option that nobody wrote is named, and its configuration not to be copied.
func TestComponentSaysWhatIsMissing(t *testing.T) {
	ntfy := service.Component{
		View: component.View{ID: "ntfy.main", Type: "ntfy", Name: "main", State: component.Failed, Error: "topic is required"},
		Kind: kind.Trigger, Settings: []service.Setting{{Name: "topic", Required: true, Source: "default"}},
	}
	u := withFakes(t, func(f *fakeService) { f.fakeComponents = fakeComponents{all: []service.Component{ntfy}} })
	_, body := get(t, u, "/triggers/ntfy/main")
	webtest.Contains(t, body, `<span class="tag">topic</span>`, `<span class="bad">not set, required</span>`,
		"DOGWATCH_TRIGGER_NTFY_MAIN_TOPIC")
	if strings.Contains(body, "Copy this configuration") || strings.Contains(body, "All options have their defaults") {
		t.Error("what is missing is offered to be copied, or said to have its default")
	}
}
