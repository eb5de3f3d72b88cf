package containers

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/tally/tallytest"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/serve/words"
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

// TestNamesSortByTheirNumbers, as replicas of compose have them.
func TestNamesSortByTheirNumbers(t *testing.T) {
	s := webtest.Stored(t, webtest.Container("web-10"), webtest.Container("web-2"), webtest.Container("Web-1"))
	for _, query := range []string{"", "sort=name", "sort=image", "group=none"} {
		v := listOf(s.Snapshot().All(), parseListQuery(mustParse(t, query)), rows{
			redact: strings.ToLower, icon: func(string, string) string { return "x" }, now: webtest.Noon,
		})
		if got := shownNames(v); got != "Web-1 web-2 web-10" {
			t.Errorf("%q shows %q", query, got)
		}
	}
}

func TestListFilterGroupSort(t *testing.T) {
	s := webtest.Stored(t,
		webtest.Container("current"), webtest.Container("patched", webtest.Newer("1.0.1", "patch")), webtest.Container("majored", webtest.Newer("2.0.0", "major"), webtest.In("web")),
		webtest.Container("broken", webtest.Failed("503"), webtest.In("web")),
		webtest.Container("minored", webtest.Newer("1.1.0", "minor"), func(c *sdk.Container) {
			c.Watcher, c.Image.Registry.Host, c.Result.Created = "nas", "ghcr.io", sdk.TimeOf(webtest.Noon.Add(-time.Hour))
		}),
		webtest.Container("new", func(c *sdk.Container) { c.Check = sdk.CheckState{State: sdk.CheckNever} }, webtest.Labelled("team", "red")),
	)
	for query, want := range map[string]string{
		"":                          "broken majored / minored patched current new",
		"group=none":                "broken majored minored patched current new",
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
		"group=watcher":             "broken majored patched current new / minored",
		"group=label:team":          "broken majored minored patched current / new",
		"group=bogus&sort=bogus":    "broken majored / minored patched current new",
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
		if words.Counts(v.counts).String() != "3 updates · 1 failed · 1 not checked yet · 1 up to date" {
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
	s := webtest.Stored(t, webtest.Container("one", webtest.Newer("2.0.0", "major")),
		webtest.Container("two", webtest.Newer("1.0.1", "patch")), webtest.Container("three"),
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

// TestListAddsUp: over random fleets, each chip leaves as many containers as it says, those of the parts are as many as
// there are containers, and so are the numbers of the sentence.
func TestListAddsUp(t *testing.T) {
	make := rows{redact: strings.ToLower, icon: func(string, string) string { return "x" }, now: webtest.Noon}
	number, held := regexp.MustCompile(`\d+`), regexp.MustCompile(` \(\d+ held\)`)
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
		said, _, _ := strings.Cut(held.ReplaceAllString(words.Counts(v.counts).String(), ""), ";")
		for _, n := range number.FindAllString(said, -1) {
			n, _ := strconv.Atoi(n)
			sum += n
		}
		if onlyCurrent := words.Counts(v.counts).String() == "Everything is up to date"; parts != len(records) ||
			sum != len(records) && !onlyCurrent {
			t.Errorf("fleet %d of %d: the chips have %d, and %q", seed, len(records), parts, v.Sentence)
		}
	}
}

// TestGroupsInOrderOfNeed: by what is needed most in each, and in any other order of rows those that need a user first.
func TestGroupsInOrderOfNeed(t *testing.T) {
	held := func(c *sdk.Container) { c.Decision = &sdk.Decision{State: sdk.StateHeld} }
	approval := func(c *sdk.Container) {
		c.Decision = &sdk.Decision{State: sdk.StateOffered, Reasons: []sdk.Reason{{Code: policy.ReasonApproval}}}
	}
	s := webtest.Stored(t,
		webtest.Container("a", webtest.In("fine")), webtest.Container("b", webtest.In("held"), webtest.Newer("2.0.0", "major"), held),
		webtest.Container("c", webtest.In("small"), webtest.Newer("1.0.1", "patch")), webtest.Container("d", webtest.In("small")),
		webtest.Container("e", webtest.In("big"), webtest.Newer("2.0.0", "major")), webtest.Container("f"),
		webtest.Container("g", webtest.In("waits"), webtest.Newer("1.0.1", "patch"), approval),
		webtest.Container("h", webtest.In("zoo"), webtest.Failed("503")))
	for query, want := range map[string]string{
		"":          "zoo waits big small held fine /",
		"sort=name": "big small waits zoo fine held /",
	} {
		v := listOf(s.Snapshot().All(), parseListQuery(mustParse(t, query)), rows{
			redact: strings.ToLower, icon: func(string, string) string { return "x" }, now: webtest.Noon,
		})
		var titles []string
		for _, g := range v.Groups {
			titles = append(titles, cmp.Or(g.Title, "/"))
		}
		if got := strings.Join(titles, " "); got != want {
			t.Errorf("%q shows the groups %q, want %q", query, got, want)
		}
	}
}
