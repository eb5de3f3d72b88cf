package web

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally/tallytest"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

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

func TestListFilterGroupSort(t *testing.T) {
	s := stored(t,
		webtest.Container("current"), webtest.Container("patched", webtest.Newer("1.0.1", "patch")), webtest.Container("majored", webtest.Newer("2.0.0", "major"), webtest.In("web")),
		webtest.Container("broken", webtest.Failed("503"), webtest.In("web")),
		webtest.Container("minored", webtest.Newer("1.1.0", "minor"), func(c *sdk.Container) {
			c.Watcher, c.Image.Registry.Host, c.Result.Created = "nas", "ghcr.io", sdk.TimeOf(webtest.Noon.Add(-time.Hour))
		}),
		webtest.Container("new", func(c *sdk.Container) { c.Check = sdk.CheckState{State: sdk.CheckNever} }, webtest.Labelled("team", "red")),
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
		v := listOf(s.Snapshot().All(), parseListQuery(values), rows{
			redact: strings.ToLower, icon: func(string, string) string { return "x" }, now: webtest.Noon,
		})
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

func TestListFilterChipsCountTheirContainers(t *testing.T) {
	s := stored(t, webtest.Container("one", webtest.Newer("2.0.0", "major")), webtest.Container("two", webtest.Newer("1.0.1", "patch")), webtest.Container("three"),
		webtest.Container("four", webtest.Newer("1.1.0", "minor"), webtest.Failed("401")))
	v := listOf(s.Snapshot().All(), parseListQuery(url.Values{"state": {"patch"}}), rows{
		redact: strings.ToLower, icon: func(string, string) string { return "x" }, now: webtest.Noon,
	})
	for _, c := range v.Chips {
		of := listOf(s.Snapshot().All(), parseListQuery(mustParse(t, strings.TrimPrefix(c.Query, "?"))), rows{
			redact: strings.ToLower, icon: func(string, string) string { return "x" }, now: webtest.Noon,
		})
		if of.Shown != c.Count {
			t.Errorf("chip %q promises %d and leaves %d", c.Word, c.Count, of.Shown)
		}
		if c.Chosen != (c.Class == "patch") {
			t.Errorf("chip %q chosen: %t", c.Word, c.Chosen)
		}
	}
	if len(v.Chips) != 6 {
		t.Errorf("%d chips: %+v", len(v.Chips), v.Chips)
	}
}

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
		"/containers": {"1 unknown · 1 container up to date", `<span class="kind">unknown</span>`,
			`<span class="reason" title="` + why + `">`, "state=unknown"},
		"/containers?state=unknown": {`data-key="local/shop"`},
		"/containers?state=current": {`data-key="local/current"`},
		"/containers?q=no+digest":   {`data-key="local/shop"`},
		"/containers/local/shop": {`<span class="kind">unknown</span>`,
			"Nothing could be compared: " + why + ".",
			"Whether there is anything newer is not known any more.<"},
		"/":        {"1 unknown · 1 container up to date"},
		"/history": {"not known whether there is anything newer: " + why},
	} {
		body := request(u, "GET", path, nil).Body.String()
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q:\n%s", path, text, body)
			}
		}
		if n := strings.Count(body, why); path == "/containers/local/shop" && n != 1 {
			t.Errorf("the page says its reason %d times", n)
		}
		other := map[string]string{
			"/containers?state=unknown": "local/current", "/containers?state=current": "local/shop",
			"/containers/local/shop": "It is up to date again", "/history": "up to date with",
		}[path]
		if other != "" && strings.Contains(body, other) || strings.Contains(body, "check failed") {
			t.Errorf("%s has %q, or a failed check", path, other)
		}
	}
}

// TestListAddsUp: over random fleets, each chip leaves as many containers as it says, those of the parts are as many as
// there are containers, and so are the numbers of the sentence.
func TestListAddsUp(t *testing.T) {
	make := rows{redact: strings.ToLower, icon: func(string, string) string { return "x" }, now: webtest.Noon}
	number := regexp.MustCompile(`\d+`)
	for seed := range uint64(tallytest.Fleets) {
		var records []*store.Record
		for _, c := range tallytest.Fleet(seed) {
			records = append(records, &store.Record{Container: c})
		}
		v, sum, parts := listOf(records, listQuery{}, make), 0, 0
		for _, c := range v.Chips {
			if left := listOf(records, listQuery{State: c.Class}, make).Shown; left != c.Count {
				t.Errorf("fleet %d: chip %q says %d and leaves %d", seed, c.Word, c.Count, left)
			}
			if slices.Contains([]string{"updates", "failed", "postponed", "unchecked", "unknown", "current"}, c.Class) {
				parts += c.Count
			}
		}
		said, _, _ := strings.Cut(v.Sentence, ";")
		for _, n := range number.FindAllString(said, -1) {
			n, _ := strconv.Atoi(n)
			sum += n
		}
		if onlyCurrent := v.Sentence == "Everything is up to date"; parts != len(records) ||
			sum != len(records) && !onlyCurrent {
			t.Errorf("fleet %d of %d: the chips have %d, and %q", seed, len(records), parts, v.Sentence)
		}
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
		"/": {`<a href="/base/containers?q=Docker&#43;Hub&#43;does&#43;not&#43;answer" title="list tags of one: timeout ***">Docker Hub does not answer: 3 containers</a>`,
			"1 update · 3 failed · 1 container up to date; 1 with an update failed as well", ": a label is wrong"},
		"/containers": {`<li class="bad" title="list tags of one: timeout ***">Docker Hub does not answer: 3 containers</li>`, ">Docker Hub does not answer</span>"},
		"/containers?q=Docker+Hub+does+not+answer": {`data-key="local/one"`, `data-key="local/two"`,
			`data-key="local/three"`},
		"/containers/rows?q=&c=local%2Fone": {`<ul id="outages" class="lines"><li`},
		"/containers/local/one":             {"list tags of one: timeout ***"},
	} {
		body := request(u, "GET", path, nil).Body.String()
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q:\n%s", path, text, body)
			}
		}
		if path == "/" && strings.Contains(body, "list tags of two") {
			t.Errorf("the overview has an outage twice:\n%s", body)
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
		"/containers": {"1 update · 2 postponed checks · 1 container up to date",
			`<span class="kind">postponed</span>`, `<span class="reason" title="postponed ` + pause + `">`, "state=postponed"},
		"/containers?state=postponed":   {"current", "fresh"},
		"/containers?q=limits+requests": {"current", "old", "fresh"},
		"/containers/local/current": {`<span class="kind">postponed</span>`,
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
		for _, text := range []string{"check failed", "failed check", "other</a>"} {
			if strings.Contains(body, text) && (text != "other</a>" || path == "/containers?state=postponed") {
				t.Errorf("%s has %q", path, text)
			}
		}
	}
}
