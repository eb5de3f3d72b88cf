package web

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
)

var rowKeys = regexp.MustCompile(`<li class="row" data-key="([^"]*)"`)

// keysOf are the rows of a list, in its order.
func keysOf(body string) (keys []string) {
	for _, m := range rowKeys.FindAllStringSubmatch(body, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

// TestListHasParts: of a long list a page has a part, which its script continues where the reader scrolls and links
// lead from; together the parts are the list, and each heading counts all of its group.
func TestListHasParts(t *testing.T) {
	all := fleet(250)
	for i := range all {
		webtest.In([]string{"blog", "shop"}[i/120%2])(&all[i]) // 130 in blog, 120 in shop
	}
	u, _ := withStore(t, all...)
	get := func(path string) string { return request(u, "GET", path, nil, "Accept-Language", "en").Body.String() }
	list, shown := get("/containers?sort=name"), []string(nil)
	webtest.Contains(t, list, `data-parts="250"`,
		`<h2><span>blog</span> <span class="second small">updates or failures: 78 of 130</span></h2>`,
		`<div class="lazy" hx-get="/base/containers/part?from=100&amp;sort=name" hx-trigger="revealed"`, `data-from="100">`,
		`href="/base/containers?from=100&amp;sort=name">Show 101 to 200 of 250</a>`, `>all <b>250</b>`)
	if strings.Contains(list, "<span>shop</span>") || strings.Contains(list, "data-continued") {
		t.Error("the first part has the heading of a group that it has no rows of, or goes on with one")
	}
	for _, from := range []string{"100", "200"} {
		shown = append(shown, keysOf(list)...)
		list = get("/containers/part?sort=name&from=" + from)
		if strings.Contains(list, "<span>blog</span>") || !strings.Contains(list, "data-continued") {
			t.Errorf("the part from %s has the heading of the group that it goes on with, or says not that it does", from)
		}
	}
	shown = append(shown, keysOf(list)...)
	if strings.Contains(list, `class="lazy"`) {
		t.Error("the last part has another one after it")
	}
	slices.Sort(shown)
	if shown = slices.Compact(shown); len(shown) != 250 {
		t.Errorf("the parts have %d of 250 containers", len(shown))
	}
	for path, want := range map[string][]string{ // without script
		"/containers?from=100": {"Show 1 to 100 of 250", "Show 201 to 250 of 250", "<span>blog</span>",
			`<a href="/base/containers?sort=name" data-swap>`},
		"/containers?from=250": {"Show 101 to 200 of 250", "<span>shop</span>", `data-here="/containers?from=200"`},
		"/containers?from=-7":  {`data-here="/containers"`}, "/containers?from=x": {`data-here="/containers"`},
		"/containers?from=200&q=app2": {`data-here="/containers?q=app2"`},
	} {
		webtest.Contains(t, get(path), want...)
	}
	german := request(u, "GET", "/containers", nil, "Accept-Language", "de").Body.String()
	webtest.Contains(t, german, "101 bis 200 von 250 zeigen")
}

// TestRowsOfPartAreThoseShown: a page asks for what it shows, wherever that is now, and learns of what it
// does not show where that would be among it.
func TestRowsOfPartAreThoseShown(t *testing.T) {
	u, _ := withStore(t, fleet(250)...)
	for query, want := range map[string]string{
		"c=local/app249":                         "local/app249",
		"n=local/app249&to=100":                  "",
		"n=local/app249&to=250":                  "local/app249",
		"n=local/app000&from=100&to=200":         "",
		"n=local/app150&from=100&to=200":         "local/app150",
		"n=local/app000&c=local/app249&to=100":   "local/app000 local/app249",
		"c=local/app000&c=local/gone&n=local/no": "local/app000",
	} {
		body := request(u, "GET", "/containers/rows?group=none&sort=name&"+query, nil).Body.String()
		if got := strings.Join(keysOf(body), " "); got != want {
			t.Errorf("%s responds with %q, want %q", query, got, want)
		}
	}
}
