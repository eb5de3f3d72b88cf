package web

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestPagesShowWhatIsUnknown: in the list, by its chip, on its page and in its history, and never as up to date.
func TestPagesShowWhatIsUnknown(t *testing.T) {
	const why = "built or loaded here, so there is no digest to compare"
	unknown := func(c *sdk.Container) { c.Check.State, c.Check.Reason = sdk.CheckUnknown, why }
	u, _ := withStore(t, webtest.Container("shop", unknown), webtest.Container("current"))
	shop := webtest.Container("shop", unknown)
	fakes(u).fakeHistory = fakeHistory{events: []event.Event{
		{At: webtest.Noon, Type: event.ContainerChanged, Subject: "local/shop", Payload: event.Payload{Container: &shop}},
		{At: webtest.Noon, Type: event.UpdateCleared, Subject: "local/shop", Payload: event.Payload{Container: &shop}},
	}}
	for path, want := range map[string][]string{
		"/containers": {"1 unknown · 1 up to date", `<span class="kind muted">unknown</span>`,
			`<span class="reason" title="` + why + `">`, "state=unknown"},
		"/containers?state=unknown": {`data-key="local/shop"`},
		"/containers?state=current": {`data-key="local/current"`},
		"/containers?q=no+digest":   {`data-key="local/shop"`, "1 of 2 containers"},
		"/containers/local/shop?tab=activity": {`<span class="kind muted">unknown</span>`,
			"Nothing could be compared: " + why + ".",
			"Not known whether there is anything newer.<"},
		"/":        {"1 unknown · 1 up to date"},
		"/history": {"not known whether there is anything newer: " + why},
	} {
		body := request(u, "GET", path, nil).Body.String()
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q:\n%s", path, text, body)
			}
		}
		if n := strings.Count(body, why); path == "/containers/local/shop?tab=activity" && n != 1 {
			t.Errorf("the page says its reason %d times", n)
		}
		other := map[string]string{
			"/containers?state=unknown": "local/current", "/containers?state=current": "local/shop",
			"/containers/local/shop?tab=activity": "Up to date with", "/history": "up to date with",
		}[path]
		if other != "" && strings.Contains(body, other) || strings.Contains(body, "check failed") {
			t.Errorf("%s has %q, or a failed check", path, other)
		}
	}
}

// TestPagesSayAsOfWhenEngineIsGone: in its rows, on the page of each and above the list, and of no other engine.
func TestPagesSayAsOfWhenEngineIsGone(t *testing.T) {
	onNAS := func(c *sdk.Container) { c.Watcher, c.ID = "nas", "nas-"+c.Name }
	u, _ := withStore(t, webtest.Container("web"), webtest.Container("db", onNAS), webtest.Container("cache", onNAS))
	gone := webtest.Configured(kind.Watcher, "docker", "nas", component.Failed)
	gone.Error, gone.AsOf = "docker engine at ssh://pi@nas: no <answer>", sdk.TimeOf(webtest.Noon.Add(-2*time.Hour))
	local := webtest.Configured(kind.Watcher, "docker", "local", component.Ready)
	fakes(u).fakeComponents = fakeComponents{all: []service.Component{local, gone}}
	mark := "as of " + words.Clock(gone.AsOf.Time, webtest.Noon).String()
	row := func(body, key string) string {
		_, row, _ := strings.Cut(body, `data-key="`+key+`"`)
		row, _, _ = strings.Cut(row, "</li>")
		return row
	}
	line := "nas does not respond: 2 containers " + mark
	for _, path := range []string{"/containers", "/containers?watcher=nas", "/containers/rows?c=nas/db&c=nas/cache&c=local/web"} {
		body := request(u, "GET", path, nil).Body.String()
		for _, key := range []string{"nas/db", "nas/cache"} {
			if !strings.Contains(row(body, key), mark) || !strings.Contains(row(body, key), "no &lt;answer&gt;") {
				t.Errorf("%s: the row of %s is %s", path, key, row(body, key))
			}
		}
		if strings.Contains(row(body, "local/web"), "as of") || !strings.Contains(body, line) {
			t.Errorf("%s marks another engine, or lacks %q", path, line)
		}
	}
	if body := request(u, "GET", "/containers?watcher=local", nil).Body.String(); strings.Contains(body, "as of") {
		t.Error("the list of another engine says it")
	}
	if body := request(u, "GET", "/containers/nas/db", nil).Body.String(); !strings.Contains(body, "This is "+mark) {
		t.Error("its page does not say it")
	}
	if body := request(u, "GET", "/containers/local/web", nil).Body.String(); strings.Contains(body, "as of") {
		t.Error("the page of another says it")
	}
	fakes(u).fakeComponents = fakeComponents{all: []service.Component{local}}
	if body := request(u, "GET", "/containers", nil).Body.String(); strings.Contains(body, "as of") {
		t.Error("said of an engine that responds")
	}
}

// TestPagesGroupFailuresByCause: an outage is one thing on the overview and the list, whatever each error says.
func TestPagesGroupFailuresByCause(t *testing.T) {
	hub := func(c *sdk.Container) {
		webtest.Failed("list tags of " + c.Name + ": timeout s3cret")(c)
		c.Error.Cause = "Docker Hub does not answer"
	}
	u, _ := withStore(t, webtest.Container("one", hub), webtest.Container("two", hub, webtest.Newer("1.1.0", "minor")), webtest.Container("three", hub),
		webtest.Container("label", webtest.Failed("a label is wrong")), webtest.Container("fine"))
	for path, want := range map[string][]string{
		"/": {`<summary>Docker Hub does not answer: 3 containers</summary><p>List tags of one: timeout ***.</p>`,
			"1 update · 3 failed · 1 up to date; 1 with an update failed as well", ": a label is wrong"},
		"/containers": {`<li title="list tags of one: timeout ***"><span class="bad">Docker Hub does not answer: 3 containers</span></li>`, ">Docker Hub does not answer</span>"},
		"/containers?q=Docker+Hub+does+not+answer": {`data-key="local/one"`, `data-key="local/two"`,
			`data-key="local/three"`},
		"/containers?state=failed":          {`<ul class="rows causes">`, "2 containers</span><br>List tags of one: timeout ***.</li>", ">Docker Hub does not answer</span>", ">a label is wrong</span>"},
		"/containers/rows?q=&c=local%2Fone": {`<ul id="outages" class="lines"><li`},
		"/containers/local/one":             {"list tags of one: timeout ***"},
	} {
		body := request(u, "GET", path, nil).Body.String()
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q:\n%s", path, text, body)
			}
		}
		if path == "/" && strings.Count(body, "<summary>Docker Hub") != 1 {
			t.Errorf("the overview has an outage twice:\n%s", body)
		}
	}
}

// TestPagesSaySinceWhenAContainerFails, as far back as its events say it without a gap.
func TestPagesSaySinceWhenAContainerFails(t *testing.T) {
	u, _ := withStore(t, webtest.Container("one", webtest.Failed("a label is wrong")))
	became := func(minutes int, change ...func(*sdk.Container)) event.Event {
		c := webtest.Container("one", change...)
		return event.Event{At: webtest.Noon.Add(-time.Duration(minutes) * time.Minute), Type: event.ContainerChanged,
			Subject: "local/one", Payload: event.Payload{Container: &c}}
	}
	fakes(u).events = []event.Event{
		became(3, webtest.Failed("a label is wrong")), became(8, webtest.Failed("no answer")), became(20),
		became(30, webtest.Failed("long ago")),
	}
	for _, path := range []string{"/containers/local/one", "/containers?state=failed"} {
		body := strings.ToLower(request(u, "GET", path, nil).Body.String())
		if _, since, says := strings.Cut(body, "first failed "); !says || !strings.Contains(since[:120], "8\u00a0min ago") {
			t.Errorf("%s does not say since when it fails: %s", path, body)
		}
	}
}

// TestPagesShowPostponedChecks as what it is on every page, and never as a failed check.
func TestPagesShowPostponedChecks(t *testing.T) {
	until := sdk.TimeOf(webtest.Noon.Add(20 * time.Minute))
	waits := func(c *sdk.Container) {
		c.Check.PostponedUntil, c.Check.PostponedReason = until, "docker.io limits requests"
	}
	never := func(c *sdk.Container) { c.Check.State, c.Check.At = sdk.CheckNever, sdk.Time{} }
	u, _ := withStore(t, webtest.Container("current", waits),
		webtest.Container("old", webtest.Newer("1.1.0", "minor"), waits), webtest.Container("fresh", never, waits),
		webtest.Container("other"))
	web := webtest.Container("current", waits)
	fakes(u).fakeHistory = fakeHistory{
		events: []event.Event{{
			At: webtest.Noon, Type: event.ContainerChanged, Subject: "local/current",
			Payload: event.Payload{Container: &web, Aspect: event.Postponed},
		}},
	}
	pause := "until " + words.Exact(until.Time) + ": docker.io limits requests"
	for path, want := range map[string][]string{
		"/containers": {"1 update · 2 postponed · 1 up to date",
			`<span class="kind muted">postponed</span>`, `<span class="reason" title="postponed ` + pause + `">`, "state=postponed"},
		"/containers?state=postponed":   {"current", "fresh"},
		"/containers?q=limits+requests": {"current", "old", "fresh"},
		"/containers/local/current": {`<span class="kind muted">postponed</span>`,
			"The last check was postponed " + pause + "."},
		"/containers/local/old": {"1.1.0", "The last check was postponed " + pause + "."},
		"/": {"<h2>Postponed</h2>",
			`<a href="/base/containers?q=` + strings.ReplaceAll(url.QueryEscape("postponed "+pause), "+", "&#43;") +
				`">` + pause + "</a>", `/base/containers/local/fresh">fresh</a>`},
		"/history": {"check postponed " + pause},
	} {
		body := request(u, "GET", path, nil).Body.String()
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q:\n%s", path, text, body)
			}
		}
		for _, text := range []string{"check failed", "other</a>"} {
			if strings.Contains(body, text) && (text != "other</a>" || path == "/containers?state=postponed") {
				t.Errorf("%s has %q", path, text)
			}
		}
	}
}
