package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/check"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// noComponents are the components of an installation that has none.
type noComponents struct{}

func (noComponents) All(kind.Kind) []*component.Component { return nil }

func (noComponents) Watchers() []*component.Watcher    { return nil }
func (noComponents) Registries() []*component.Registry { return nil }
func (noComponents) Triggers() []*component.Trigger    { return nil }

func (noComponents) Get(kind.Kind, string, string) (*component.Component, bool) { return nil, false }

func (noComponents) Bundles() []plugin.Status { return nil }

// fakeChecks notes what is checked.
type fakeChecks struct {
	asked    chan string
	err      error
	progress []check.Progress
}

func (f fakeChecks) WatchAll(context.Context) error {
	f.asked <- "all"
	return f.err
}

func (f fakeChecks) WatchOne(_ context.Context, c sdk.Container) error {
	f.asked <- c.Name
	return f.err
}

func (f fakeChecks) Explain(_ context.Context, c sdk.Container) check.Explanation {
	return check.Explanation{
		Name: c.Name, Summary: []string{"So nothing newer is known, s3cret."}, Rules: []check.Rule{{Name: "tag.include", Value: "^1", Source: "label dogwatch.tag.include"}, {Name: "tag.exclude", Value: "none", Source: "default"}},
		Tags: []check.Verdict{{Tag: "1.1.0", Kept: true, Reason: "newest", Detail: "it is the newest"}, {Tag: evil, Reason: "older", Detail: evil}},
	}
}

func (f fakeChecks) Next(string) time.Time { return time.Time{} }

func (f fakeChecks) Progress() []check.Progress { return f.progress }

// a returns a container that runs 1.0.0.
func a(name string, change ...func(*sdk.Container)) sdk.Container {
	c := sdk.Container{
		ID: "id-" + name, Name: name, Watcher: "local", Status: "running", Labels: map[string]string{},
		Image: sdk.Image{Registry: sdk.Registry{Host: "docker.io"}, Name: "library/" + name, Tag: sdk.Tag{Value: "1.0.0", Semver: true}},
		Check: sdk.CheckState{State: sdk.CheckOK, At: sdk.TimeOf(noon)},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

// newer gives a container an update.
func newer(tag, diff string) func(*sdk.Container) {
	return func(c *sdk.Container) {
		c.Result, c.UpdateAvailable = &sdk.Result{Tag: tag}, true
		c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: c.Image.Tag.Value, RemoteValue: tag, SemverDiff: diff}
	}
}

func failed(why string) func(*sdk.Container) {
	return func(c *sdk.Container) {
		c.Check.State, c.Error = sdk.CheckFailed, &sdk.ContainerError{Message: why}
	}
}

func labelled(name, value string) func(*sdk.Container) {
	return func(c *sdk.Container) { c.Labels[name] = value }
}

// stored opens a store with containers.
func stored(t testing.TB, containers ...sdk.Container) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{Bus: &event.Bus{}, Now: func() time.Time { return noon }, Log: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Commit(context.Background(), event.Change{Put: containers}); err != nil {
		t.Fatal(err)
	}
	return s
}

// front is a UI whose main pages work, and what it checks.
func front(t testing.TB, containers ...sdk.Container) (*UI, chan string) {
	t.Helper()
	checks := fakeChecks{asked: make(chan string, 100)}
	u := New(Options{
		BasePath: "/base/", Version: "1.2.3", Store: stored(t, containers...), Components: noComponents{}, Plugins: noComponents{}, Checks: checks,
		Setup: fakeSetup{}, Processes: fakeProcesses{done: &[]string{}}, Archive: fakeArchive{}, About: func() About { return About{Started: noon} },
		Redact: func(s string) string { return strings.ReplaceAll(s, "s3cret", "***") }, Log: hclog.NewNullLogger(), Now: func() time.Time { return noon },
	})
	t.Cleanup(u.Close)
	if err := u.load(); err != nil {
		t.Fatal(err)
	}
	return u, checks.asked
}

// ask requests a page.
func ask(u *UI, method, path string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	u.ServeHTTP(w, r)
	return w
}

// shownNames are the containers of a list, in its order.
func shownNames(v listView) string {
	var names []string
	for _, g := range v.Groups {
		for _, r := range g.Rows {
			names = append(names, r.Name)
		}
		names = append(names, "/")
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.Join(names, " "), "/"), " ")
}

func TestList(t *testing.T) {
	s := stored(t,
		a("current"), a("patched", newer("1.0.1", "patch")), a("majored", newer("2.0.0", "major"), labelled("com.docker.compose.project", "web")),
		a("broken", failed("503"), labelled("com.docker.compose.project", "web")),
		a("minored", newer("1.1.0", "minor"), func(c *sdk.Container) {
			c.Watcher, c.Image.Registry.Host, c.Result.Created = "nas", "ghcr.io", sdk.TimeOf(noon.Add(-time.Hour))
		}),
		a("new", func(c *sdk.Container) { c.Check = sdk.CheckState{State: sdk.CheckNever} }, labelled("team", "red")),
	)
	for query, want := range map[string]string{
		"":                          "majored broken / minored patched current new",
		"group=none":                "majored broken minored patched current new",
		"group=none&sort=name":      "broken current majored minored new patched",
		"group=none&sort=age":       "majored patched minored broken current new",
		"state=updates":             "majored / minored patched",
		"state=failed":              "broken",
		"state=current":             "current",
		"state=minor":               "minored",
		"watcher=nas":               "minored",
		"registry=ghcr.io":          "minored",
		"q=ED+1.0.1":                "patched",
		"q=503":                     "broken",
		"q=nothing":                 "",
		"group=watcher":             "majored broken patched current new / minored",
		"group=label:team":          "majored broken minored patched current / new",
		"group=bogus&sort=bogus":    "majored broken / minored patched current new",
		"state=bogus":               "",
		"state=failed&watcher=nobo": "",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		v := listOf(s.Snapshot().All(), parseListQuery(values), rows{redact: strings.ToLower, brand: func(string, string) string { return "x" }, now: noon})
		if got := shownNames(v); got != want {
			t.Errorf("%q shows %q, want %q", query, got, want)
		}
		if v.Sentence != "3 updates · 1 failed · 1 container not checked yet · 1 container up to date" {
			t.Errorf("%q says %q", query, v.Sentence)
		}
		if again := parseListQuery(mustParse(t, strings.TrimPrefix(v.Query.with("", ""), "?"))); again != v.Query {
			t.Errorf("%q becomes %+v in a link, want %+v", query, again, v.Query)
		}
	}
}

func mustParse(t *testing.T, query string) url.Values {
	t.Helper()
	v, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestChipsCountWhatTheyLeave(t *testing.T) {
	s := stored(t, a("one", newer("2.0.0", "major")), a("two", newer("1.0.1", "patch")), a("three"), a("four", newer("1.1.0", "minor"), failed("401")))
	v := listOf(s.Snapshot().All(), parseListQuery(url.Values{"state": {"patch"}}), rows{redact: strings.ToLower, brand: func(string, string) string { return "x" }, now: noon})
	for _, c := range v.Chips {
		of := listOf(s.Snapshot().All(), parseListQuery(mustParse(t, strings.TrimPrefix(c.Query, "?"))), rows{redact: strings.ToLower, brand: func(string, string) string { return "x" }, now: noon})
		if of.Shown != c.Count {
			t.Errorf("chip %q promises %d and leaves %d", c.Word, c.Count, of.Shown)
		}
		if c.Chosen != (c.Class == "patch") {
			t.Errorf("chip %q chosen: %t", c.Word, c.Chosen)
		}
	}
	if len(v.Chips) != 7 {
		t.Errorf("%d chips: %+v", len(v.Chips), v.Chips)
	}
}

func TestOverviewSentences(t *testing.T) {
	var many []sdk.Container
	for i := range namesShown + 2 {
		many = append(many, a(fmt.Sprintf("m%d", i), newer("1.1.0", "minor")))
	}
	u, _ := front(t, append(many, a("big", newer("2.0.0", "major")), a("sad", failed("refused s3cret")), a("sorry", failed("refused s3cret")))...)
	body := ask(u, "GET", "/", nil).Body.String()
	for _, want := range []string{
		"9 updates · 2 failed", "1 major update", "8 minor updates", `<a href="/base/containers?state=minor">and 2 more</a>`,
		`<a href="/base/containers/local/sad">sad</a>, <a href="/base/containers/local/sorry">sorry</a>: refused ***`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the overview lacks %q:\n%s", want, body)
		}
	}
	if empty, _ := front(t); !strings.Contains(ask(empty, "GET", "/containers", nil).Body.String(), "/base/start") {
		t.Error("an empty list does not say what to do next")
	}
}

// TestProgressIsShown on the pages that are looked at during a check.
func TestProgressIsShown(t *testing.T) {
	u, _ := front(t, a("web"))
	u.Checks = fakeChecks{progress: []check.Progress{{Watcher: "local", Checked: 5, Total: 6}, {Watcher: "other", Checked: 0, Total: 4}}}
	u.Archive = fakeArchive{events: []event.Event{{At: u.started.Add(time.Second), Type: event.CheckStarted, Subject: "local", Payload: event.Payload{Check: &event.Check{Watcher: "local"}}}}}
	for path, want := range map[string]string{"/containers": "· being checked, 5 of 10<", "/containers/rows": "· being checked, 5 of 10<"} {
		if body := ask(u, "GET", path, nil).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q:\n%s", path, want, body)
		}
	}
}

// TestPostponedIsShown as what it is on every page, and never as a failed check.
func TestPostponedIsShown(t *testing.T) {
	until := sdk.TimeOf(noon.Add(20 * time.Minute))
	waits := func(c *sdk.Container) {
		c.Check.PostponedUntil, c.Check.PostponedReason = until, "docker.io limits requests"
	}
	never := func(c *sdk.Container) { c.Check.State, c.Check.At = sdk.CheckNever, sdk.Time{} }
	u, _ := front(t, a("current", waits), a("old", newer("1.1.0", "minor"), waits), a("fresh", never, waits), a("other"))
	web := a("current", waits)
	u.Archive = fakeArchive{events: []event.Event{{At: noon, Type: event.ContainerChanged, Subject: "local/current", Payload: event.Payload{Container: &web, Aspect: event.Postponed}}}}
	words := "until " + exactly(until.Time) + ": docker.io limits requests"
	for path, want := range map[string][]string{
		"/containers":                 {"1 update · 3 postponed checks · 1 container not checked yet", `<span class="kind">postponed</span>`, `<span title="postponed ` + words + `">`, "state=postponed"},
		"/containers?state=postponed": {"current", "old", "fresh"},
		"/containers/local/current":   {`<span class="kind">postponed</span>`, "The last check was postponed " + words + "."},
		"/containers/local/old":       {"1.1.0", "The last check was postponed " + words + "."},
		"/":                           {"<h2>Postponed</h2>", `<a href="/base/containers?state=postponed">` + words + "</a>", `/base/containers/local/fresh">fresh</a>`},
		"/history":                    {"check postponed " + words},
	} {
		body := ask(u, "GET", path, nil).Body.String()
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q:\n%s", path, text, body)
			}
		}
		for _, text := range []string{"check failed", "failed check", "other</a>"} {
			if strings.Contains(body, text) && (text != "other</a>" || path == "/containers?state=postponed") {
				t.Errorf("%s has %q", path, text)
			}
		}
	}
}

func TestWatchersOf(t *testing.T) {
	at := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }
	events := []event.Event{
		{At: at(9), Type: event.CheckStarted, Payload: event.Payload{Check: &event.Check{Watcher: "busy"}}},
		{At: at(8), Type: event.CheckFinished, Payload: event.Payload{Check: &event.Check{Watcher: "idle", Containers: 3}}},
		{At: at(7), Type: event.CheckStarted, Payload: event.Payload{Check: &event.Check{Watcher: "idle"}}},
		{At: at(6), Type: event.CheckFailed, Payload: event.Payload{Check: &event.Check{Watcher: "busy", Error: "no socket"}}},
		{At: at(1), Type: event.CheckStarted, Payload: event.Payload{Check: &event.Check{Watcher: "killed"}}},
	}
	got := watchersOf([]string{"busy", "idle", "killed"}, events, at(5), []check.Progress{{Watcher: "busy", Checked: 2, Total: 3}}, func(string) time.Time { return at(20) }, strings.ToUpper)
	want := []watcherLine{
		{Name: "busy", Running: true, Going: going{"busy", 2, 3}, Last: at(6), Words: "NO SOCKET", Bad: true, Next: at(20)},
		{Name: "idle", Going: going{Name: "idle"}, Last: at(8), Words: "3 containers", Next: at(20)},
		{Name: "killed", Going: going{Name: "killed"}, Words: "not checked yet", Next: at(20)},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestContainerPage(t *testing.T) {
	c := a("web", newer("1.1.0", "minor"), labelled("password", "s3cret"), labelled(evil, evil))
	c.Result.Link, c.DisplayName = "javascript:alert(1)", evil
	u, _ := front(t, c)
	u.Archive = fakeArchive{events: []event.Event{
		{At: noon, Type: event.UpdateFound, Subject: "local/web", Payload: event.Payload{Container: &c}},
		{At: noon, Type: event.UpdateFound, Subject: "local/other", Payload: event.Payload{Container: &c}},
	}}
	page := ask(u, "GET", "/containers/local/web?why=1", nil).Body.String()
	for _, want := range []string{"docker pull web:1.1.0", "It has a newer version: 1.1.0 (minor).", "from label dogwatch.tag.include", "1 rule by default", "<dt>tag.exclude</dt><dd>none</dd>", "So nothing newer is known, ***.", "<!doctype html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, unwanted := range []string{"s3cret", "javascript:", "<script>alert", "<img", "Release notes"} {
		if strings.Contains(page, unwanted) {
			t.Errorf("the page has %q:\n%s", unwanted, page)
		}
	}
	if n := strings.Count(page, "It has a newer version"); n != 1 {
		t.Errorf("%d lines of history, want 1", n)
	}
	sheet := ask(u, "GET", "/containers/local/web", nil, "HX-Request", "true").Body.String()
	if strings.Contains(sheet, "<html") || !strings.Contains(sheet, `hx-get="/base/containers/local/web/why"`) {
		t.Errorf("the sheet is %s", sheet)
	}
	if w := ask(u, "GET", "/containers/id-web", nil); w.Code != http.StatusFound || w.Header().Get("Location") != "/base/containers/local/web" {
		t.Errorf("an id leads to %d %s", w.Code, w.Header().Get("Location"))
	}
	for _, path := range []string{"/containers/local/gone", "/containers/gone", "/nowhere"} {
		if w := ask(u, "GET", path, nil); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "<nav") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestPullOf(t *testing.T) {
	for want, c := range map[string]sdk.Container{
		"docker pull x:1.0.0":               a("x"),
		"docker pull x:2":                   a("x", newer("2", "major")),
		"docker pull ghcr.io/o/x:1.0.0":     a("x", func(c *sdk.Container) { c.Image.Registry.Host, c.Image.Name = "ghcr.io", "o/x" }),
		"docker pull x@sha256:0123456789ab": a("x", func(c *sdk.Container) { c.Image.Tag.Value = "sha256:0123456789ab" }),
		"":                                  a("x", func(c *sdk.Container) { c.Image.Name = "" }),
	} {
		if got := pullOf(&c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAct(t *testing.T) {
	u, asked := front(t, a("one"), a("two", newer("2.0.0", "major")))
	act := func(form url.Values, headers ...string) *httptest.ResponseRecorder {
		return ask(u, "POST", "/containers/act", form, headers...)
	}
	if w := act(url.Values{"do": {"check"}, "c": {"local/one", "local/one", "local/two", "local/gone"}, "back": {"/containers?q=x"}}); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/base/containers?q=x" {
		t.Fatalf("%d %s", w.Code, w.Header().Get("Location"))
	}
	got := []string{<-asked, <-asked}
	slices.Sort(got)
	if !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("checked %q", got)
	}
	if w := act(url.Values{"do": {"check-all"}}, "HX-Request", "true"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `id="work"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := <-asked; got != "all" {
		t.Errorf("checked %q", got)
	}
	for want, form := range map[int]url.Values{
		http.StatusUnprocessableEntity:   {"do": {"check"}, "c": {"local/gone"}},
		http.StatusRequestEntityTooLarge: {"do": {"check"}, "c": {strings.Repeat("x", maxForm)}},
	} {
		if w := act(form); w.Code != want {
			t.Errorf("%d, want %d: %s", w.Code, want, w.Body)
		}
	}
	for _, form := range []url.Values{{}, {"do": {"dance"}, "c": {"local/one"}}, {"do": {"run"}, "c": {"local/one"}, "trigger": {evil}}} {
		if w := act(form); w.Code != http.StatusUnprocessableEntity || strings.Contains(w.Body.String(), "<script>alert") {
			t.Errorf("%v: %d %s", form, w.Code, w.Body)
		}
	}
	refused := act(url.Values{"do": {"check"}}, "HX-Request", "true", "HX-Target", "section#work")
	if !strings.Contains(refused.Body.String(), `id="work"`) || !strings.Contains(refused.Body.String(), "Nothing was chosen") {
		t.Errorf("htmx is told %s", refused.Body)
	}
}

// TestConfirm is the question before a trigger that may change containers.
func TestConfirm(t *testing.T) {
	u, _ := front(t)
	w := httptest.NewRecorder()
	u.confirm(w, httptest.NewRequest("POST", "/containers/act", nil), evil, []sdk.Container{a("one"), a("two", func(c *sdk.Container) { c.DisplayName = evil })})
	body := w.Body.String()
	contains(t, body, "for 2 containers?", `name="c" value="local/one"`, `name="c" value="local/two"`, `name="sure" value="1"`, `action="/base/containers/act"`)
	mustBeInert(t, body)
}

func TestCheckedSentences(t *testing.T) {
	u, _ := front(t, a("one"), a("two", newer("2.0.0", "major")), a("three", failed("503")))
	for want, names := range map[string][]string{
		"It is up to date.":                           {"one"},
		"There is a newer version: 2.0.0 (major).":    {"two"},
		"The check failed: 503.":                      {"three"},
		"The engine does not have it any more.":       {"gone"},
		"Checked: 1 update · 1 container up to date.": {"one", "two"},
		"Checked: 1 failed · 1 container up to date.": {"one", "three"},
	} {
		var chosen []sdk.Container
		for _, name := range names {
			chosen = append(chosen, a(name))
		}
		if got, _ := u.checked(chosen, make([]error, len(chosen))); got != want {
			t.Errorf("%v: %q, want %q", names, got, want)
		}
	}
}
