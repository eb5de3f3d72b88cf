// Package webtest has containers, components and events for the tests of pages.
package webtest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Configured returns a component in a state.
func Configured(k kind.Kind, typ, name string, state component.State) service.Component {
	return service.Component{Kind: k, View: component.View{ID: typ + "." + name, Type: typ, Name: name, State: state}}
}

// SMTP returns a trigger.
func SMTP() service.Component {
	c := Configured(kind.Trigger, "smtp", "main", component.Ready)
	c.Summary = "Sends e-mail"
	c.Settings = []service.Setting{
		{Name: "host", Value: "mail.example.org", Source: "env X"},
		{Name: "pass", Value: "s*****", Secret: true, Source: "env Y"},
		{Name: "proxy", Value: "http://ann:***@proxy:3128", Source: "dogwatch.yaml:3"},
		{Name: "simpletitle", Value: `${container.name} "is" new`, Source: "dogwatch.yaml:4"},
		{Name: "mode", Value: "simple", Source: "default"},
	}
	return c
}

// PluginIn returns a plugin in a state.
func PluginIn(name string, state plugin.State) service.Plugin {
	return service.Plugin{Status: plugin.Status{Name: name, State: state, Since: sdk.TimeOf(Noon)}}
}

// Limit returns what a host allows.
func Limit(host string, most, remaining int64) registry.Limit {
	return registry.Limit{Host: host, Limit: most, Remaining: remaining, At: sdk.TimeOf(Noon.Add(-time.Minute))}
}

// Noon is when the tests of pages take place.
var Noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// Evil is what plugins, labels and users could write to have a browser run it.
const Evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>'` + "`{{.}}"

// Container returns a container that runs 1.0.0.
func Container(name string, change ...func(*sdk.Container)) sdk.Container {
	c := sdk.Container{
		ID: "id-" + name, Name: name, Watcher: "local", Status: "running", Labels: map[string]string{},
		Image: sdk.Image{
			Registry: sdk.Registry{Host: "docker.io"}, Name: "library/" + name, Tag: sdk.Tag{Value: "1.0.0", Semver: true},
		},
		Check: sdk.CheckState{State: sdk.CheckOK, At: sdk.TimeOf(Noon)},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

// Newer gives a container an update.
func Newer(tag, diff string) func(*sdk.Container) {
	return func(c *sdk.Container) {
		c.Result, c.UpdateAvailable = &sdk.Result{Tag: tag}, true
		c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: c.Image.Tag.Value, RemoteValue: tag, SemverDiff: diff}
	}
}

func Failed(why string) func(*sdk.Container) {
	return func(c *sdk.Container) {
		c.Check.State, c.Error = sdk.CheckFailed, &sdk.ContainerError{Message: why}
	}
}

func Labelled(name, value string) func(*sdk.Container) {
	return func(c *sdk.Container) { c.Labels[name] = value }
}

func In(stack string) func(*sdk.Container) { return func(c *sdk.Container) { c.Stack = stack } }

// Contains reports what a body lacks, where spaces that break no line are as good as others.
func Contains(t *testing.T, body string, want ...string) {
	t.Helper()
	body = strings.ReplaceAll(body, "\u00a0", " ")
	for _, w := range want {
		if !strings.Contains(body, w) {
			t.Errorf("there is no %q in\n%s", w, body)
		}
	}
}

// MustBeInert reports markup that came from evil text.
func MustBeInert(t *testing.T, body string) {
	t.Helper()
	for _, bad := range []string{"<script>alert", "<img src=x", "onerror=alert(2)>'", "javascript:"} {
		if strings.Contains(body, bad) {
			t.Errorf("%q is in the page:\n%s", bad, body)
		}
	}
}

// CheckEvents are those of checks, the newest first.
func CheckEvents() []event.Event {
	eventAt := func(minute int, typ event.Type, watcher string, single bool) event.Event {
		return event.Event{
			At: Noon.Add(time.Duration(minute) * time.Minute), Type: typ, Subject: watcher,
			Payload: event.Payload{Check: &event.Check{Watcher: watcher, Single: single, Containers: 3}},
		}
	}
	return []event.Event{
		eventAt(9, event.CheckStarted, "single", true), eventAt(8, event.CheckStarted, "busy", false),
		eventAt(7, event.CheckFinished, "idle", false), eventAt(6, event.CheckStarted, "idle", false),
		eventAt(5, event.CheckFailed, "busy", false), eventAt(4, event.CheckFinished, "single", false),
		eventAt(-1, event.CheckStarted, "killed", false),
	}
}

// DaysUntil returns days until noon with so many major updates each.
func DaysUntil(majors ...int) []history.Day {
	var days []history.Day
	for i, n := range majors {
		days = append(days, history.Day{
			Date: Noon.AddDate(0, 0, i+1-len(majors)).Format("2006-01-02"), Updates: n, Major: n, Age: history.Age{Week: n},
		})
	}
	return days
}

// Stored opens a store with containers.
func Stored(t testing.TB, containers ...sdk.Container) *store.Store {
	t.Helper()
	s := storetest.Open(t, filepath.Join(t.TempDir(), "x.db"), store.Options{
		Bus: &event.Bus{}, Now: func() time.Time { return Noon }, Log: hclog.NewNullLogger(),
	})
	t.Cleanup(func() { s.Close() })
	if err := s.Commit(context.Background(), event.Change{Put: containers}); err != nil {
		t.Fatal(err)
	}
	return s
}
