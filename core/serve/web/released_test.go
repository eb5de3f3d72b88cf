package web

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
)

// made gives the newer version of a container a date.
func made(at time.Time) func(*sdk.Container) {
	return func(c *sdk.Container) { c.Result.Created = sdk.TimeOf(at) }
}

// TestReleaseDates is what lists and pages say about how old a newer version is, 3 hours after it was found.
func TestReleaseDates(t *testing.T) {
	const seen = `<span title="Dogwatch has known of it since 2026-03-29 12:00:00 UTC. Its image has given no release date so far.">seen 3 h ago</span>`
	const firstSeen, unknown = `Seen by Dogwatch <time datetime="2026-03-29T12:00:00Z" title="2026-03-29 12:00:00 UTC">3 h ago</time>;`, "its image has given no release date so far"
	for name, tc := range map[string]struct {
		c          sdk.Container
		row        string
		page, lack []string
	}{
		"dated": {webtest.Container("x", webtest.Newer("2", "major"), made(webtest.Noon.Add(-48*time.Hour))),
			`title="2026-03-27 12:00:00 UTC">2 d ago</time>`, []string{"Released <time", "according to its image"},
			[]string{unknown, "Seen by"}},
		"undated": {webtest.Container("x", webtest.Newer("2", "major")), seen, []string{firstSeen, unknown}, []string{"Released <time"}},
		"of 1970": {webtest.Container("x", webtest.Newer("2", "major"), made(time.Unix(0, 0))), seen, []string{firstSeen, unknown},
			[]string{"Released <time", "1970-"}},
		"of 2038": {webtest.Container("x", webtest.Newer("2", "major"), made(webtest.Noon.AddDate(12, 0, 0))), seen, []string{firstSeen, unknown},
			[]string{"Released <time", "2038-"}},
		"failed": {webtest.Container("x", webtest.Newer("2", "major"), webtest.Failed("503")), `<span class="bad" title="503">503</span>`,
			[]string{firstSeen}, nil},
		"up to date": {webtest.Container("x"), `<span class="age"></span>`, []string{"up to date"}, []string{unknown, "Seen by"}},
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := withStore(t, tc.c)
			u.Site.Now = func() time.Time { return webtest.Noon.Add(3 * time.Hour) }
			webtest.Contains(t, request(u, "GET", "/containers", nil).Body.String(), tc.row)
			page := request(u, "GET", "/containers/local/x", nil).Body.String()
			webtest.Contains(t, page, tc.page...)
			for _, unwanted := range tc.lack {
				if strings.Contains(page, unwanted) {
					t.Errorf("the page has %q:\n%s", unwanted, page)
				}
			}
		})
	}
}

// TestPageViewsWantReleaseDates: page views want the dates of the containers that they show, and no others.
func TestPageViewsWantReleaseDates(t *testing.T) {
	var wanted []string
	fake, _ := storedService(t, webtest.Container("one"), webtest.Container("two", webtest.Newer("2", "major")))
	u := newUI(t, Options{
		Logins: fakeLogins{}, Want: func(c *sdk.Container) { wanted = append(wanted, c.Name) },
	}, fake)
	for path, want := range map[string][]string{
		"/": {"one", "two"}, "/containers": {"two", "one"}, "/containers/rows?c=local/two": {"two", "one"},
		"/containers/local/two":  {"two"},
		"/containers/local/gone": nil, "/containers/local/two/why": nil, "/history": nil, "/settings": nil,
		"/static/app.js": nil, "/start": nil,
	} {
		wanted = nil
		request(u, "GET", path, nil)
		if !slices.Equal(wanted, want) {
			t.Errorf("%s wants %q, want %q", path, wanted, want)
		}
	}
}
